// Package load lets many thousands of users, from one process, use an installation over real sockets, and measures it.
//
// It must always hold: the figures of Run come with checks that were made during the load and after it. Journals are complete, in
// order and without duplicates. Acknowledged entries are stored once. Won shares add up. The books balance. Each request has
// a due time from the schedule, and its latency counts from then, so a late request counts with its delay. In a closed loop, a
// request is due when the one before it is answered. RunAbuse and Repeat measure without these checks and without a
// schedule. Audience checks only that each socket receives each text once.
package load
