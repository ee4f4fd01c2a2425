// Package crashpoint names the steps of the life of a packet, of an upload, and of erasures and retention, at which tests let the process die. In an ordinary build the
// package does nothing, and Now is the machine's clock. In a test build (-tags crashpoints), environment variables name a step
// at which the process kills itself, a step at which one goroutine abandons its work (Lost), and a file with a duration. Now
// differs from the machine's clock by that duration.
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
	"enter.after-commit",
	"draw.after-root",
	"wave.after-settle",
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

// FilePoints lists the names of the steps of an upload.
var FilePoints = []string{"file.before-piece", "file.after-piece", "file.before-object", "file.before-finish", "file.after-finish", "file.before-forget"}

// LifecyclePoints lists the names of the steps that remove what users have written.
var LifecyclePoints = []string{"erase.before-step", "erase.after-step", "retire.before-step", "retire.after-step"}
