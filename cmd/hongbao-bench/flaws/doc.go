// Package flaws reproduces the flaws of the published schemes. Some flaws are admitted by the scheme's author, others were found
// later. Each has a small scenario, which runs on the scheme, where it must show the flaw, and then on our service.
//
// It must always hold: every event of a scenario can happen in production. Processes stop or die as from kill -9, servers
// are killed, statements are late, grabs come at the same time or late. The schemes are the same code that is
// measured. The evidence is the answers to users, the tables, or both. A flaw that cannot be reproduced is reported
// as such.
package flaws
