// Package crashpoint owns the names of the steps between which a process may die. In an ordinary build it does
// nothing; in a test build (-tags crashpoints) the process kills itself at the step that the environment names.
package crashpoint

// Points are all steps, in the order of a packet's life. The crash tests visit every one of them.
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
	"recover.after-list",
	"recover.after-settle",
	"recover.after-ack",
}
