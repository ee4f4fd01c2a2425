// Package bundle makes the files of the page: it joins them, compresses them, gives them addresses that change with their content,
// and serves them.
//
// The modules of the page are joined into two files, so that a first visit makes few requests. On a connection with a
// round trip of 150 ms and six requests at a time, a hundred small files take two seconds longer than one.
//
// Join does not parse JavaScript. It relies on how the modules are written, and refuses others:
//
//   - An import at the top of a module names what it imports, without another name, and stands at the start of a line.
//   - An export is one function, class or variable, and its name is exported by no other module. A module may also export names of
//     a vendored module.
//   - No line begins, without indentation, with [ or ( or a quote.
//
// Each module becomes a block of the joined file. Its private names stay in the block. Its exports are variables of the file.
// So the other modules use them directly, and see later changes of a variable.
package bundle
