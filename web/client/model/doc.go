// Package model has the values that a Client returns: events, entries of rooms with their bodies, and the users, rooms, packets
// and accounts in them. The functions whose names end in Of read them from the wire. It must always hold: an entry or an event of
// a kind that this version does not know becomes Other or OtherEvent with the unchanged data. Unknown fields of known kinds are
// ignored.
package model
