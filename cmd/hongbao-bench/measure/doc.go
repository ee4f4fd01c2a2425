// Package measure sets two ways of doing the same beside each other: rounds in turn on one machine, medians, their
// ratio, and whether that is what was asked.
//
// It must always hold: both sides of a match run in every round, so that what else the machine does in that minute
// hits both; who begins changes from round to round; a side that fails, or whose result is wrong, ends the run and
// has no figure.
package measure
