// Package schemes holds eight published ways of grabbing a red packet, each as its author describes it, with its speed and its
// flaws. They come from three articles: article 1 has lua-split, article 2 lua-list, and article 3 the others. They are the
// peers of the benchmark and no part of the server.
//
// Each scheme is in the files with its name, its Lua beside it; activities.go, pieces.go and redis_queue.go have common code of
// article 3. It must always hold: a scheme does what its author's text does. No flaw is corrected, or the comparison would be
// with an unpublished scheme. Where the text is silent, or where the code differs from it, the comment says so. Then the
// choice favours the scheme.
package schemes
