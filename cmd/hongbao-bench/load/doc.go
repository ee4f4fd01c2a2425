// Package load lets many thousands of users, from one process, use an installation over real sockets, and measures it.
//
// It must always hold: a figure comes with checks that were made while it was taken. Journals are complete, in order
// and without duplicates. Acknowledged entries are stored once. Won shares add up. The books balance. Each request has
// a due time from the schedule, and its latency counts from then, so a late request counts with its delay.
package load
