// Package slack converts an export of a Slack workspace, a zip file with a JSON file for each channel and day, to an archive of package
// chat/archive. It imports chat and chat/archive.
//
// It must always hold: nothing of the zip file is written anywhere but into the archive, and each file in it is read up to a limit.
package slack
