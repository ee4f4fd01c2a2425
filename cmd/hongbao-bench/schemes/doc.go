// Package schemes holds the published ways of grabbing a red packet, each as its author describes it: with its speed,
// and with its flaws. They are what ours is measured beside, and no part of the server.
//
// Each scheme is one readable file (its Lua beside it), written for Redis and Postgres. It must always hold: what a
// scheme does is what its author's text does. Nothing is mended, or the comparison would be with something that
// nobody has published; where the text says nothing, the comment says what was chosen, and it is the choice that
// is kinder to the scheme.
package schemes
