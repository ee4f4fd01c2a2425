// Package load has users speak to an installation over real sockets, many thousands from one process, and measures what it
// carries.
//
// It must always hold: a figure comes with what was checked while it was taken (journals complete, in order and without
// duplicates; what was acknowledged is there once; what was won adds up; the books balance), and who is late pays for
// it: each request has its time from the schedule, and its latency counts from then, sent or not.
package load
