// Package store picks the engines that a configuration asks for, opens them, and closes them in order.
//
// It must always hold: the rest of the program cannot tell which engines it has; a data folder is served by one
// process at a time (others may read it, and move money, which SQL alone decides); nothing is made in a
// folder that was only to be looked at.
//
// There are two choices: embedded, which is SQLite in a folder and this process's memory for all else; and scaled,
// Postgres as the truth, Redis as the arbiter of grabs, the bus between instances, presence and rates.
package store
