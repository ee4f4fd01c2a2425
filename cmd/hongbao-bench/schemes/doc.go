// Package schemes holds the published ways of grabbing a red packet, each as its author describes it, with its speed and its
// flaws. They are the peers of the benchmark and no part of the server.
//
// Each scheme is one readable file (its Lua beside it), written for Redis and Postgres. It must always hold: a scheme does
// what its author's text does. Nothing is corrected, or the comparison would be with an unpublished scheme. Where the text is
// silent, the comment names the choice that was made, which is the one that favours the scheme.
package schemes
