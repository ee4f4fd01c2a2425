// Package model has the values that a Client returns: events, entries of rooms with their bodies, and the users, rooms, packets
// and accounts in them. The functions whose names end in Of read them from the wire. It must always hold: what this version
// does not know becomes Other or OtherEvent with the unchanged data, so nothing is lost.
package model
