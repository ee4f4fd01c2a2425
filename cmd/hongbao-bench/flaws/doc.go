// Package flaws shows what is said of the published schemes to be so: each flaw that its author admits, or somebody has
// found, is a small scenario that reproduces it on the scheme, and then plays the same on ours.
//
// It must always hold: nothing is staged that could not happen. Processes end as kill -9 ends them, servers are killed,
// statements come late, people come at once or late; the schemes are those that are measured, and the evidence is what
// their users were told beside what their tables hold. What cannot be reproduced is said to be so.
package flaws
