// Package crashpoint names the steps of a packet's life at which tests let the process die. In an ordinary build the
// package does nothing. In a test build (-tags crashpoints) the process kills itself at the step that an environment
// variable names, and Now differs from the machine's clock by the duration in a file.
package crashpoint

// Points lists the names of all steps, in the order of a packet's life. The crash tests visit each of them.
var Points = []string{
	"send.before-commit",
	"send.after-commit",
	"send.after-load",
	"send.after-publish",
	"grab.after-pool",
	"settle.before-commit",
	"settle.after-commit",
	"grab.after-settle",
	"grab.after-ack",
	"close.after-script",
	"close.after-settle",
	"close.before-commit",
	"close.after-commit",
	"close.after-load",
	"delete.after-commit",
	"recover.after-list",
	"recover.after-settle",
	"recover.after-ack",
}
