// Command hongbao is a group chat in which people send red packets and grab them over the socket.
//
// It owns what a process owns: settings, wiring, goroutines, signals and exit codes. Everything else is in
// the packages it wires. It must always hold: all goroutines belong to one group, which is waited for before
// the stores close; a setting that does not work, or is not known, refuses to start and says what to do.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal stops in good order; a second one is not caught any more
	p := &program{environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(p.run(ctx, os.Args[1:]))
}
