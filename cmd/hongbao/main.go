// Command hongbao is the server of a group chat in which users send red packets and grab them. It also has the commands for
// its operator, such as migrate and audit.
//
// It owns settings, wiring, certificates, signals, exit codes and the goroutines of the parts. The rest is in the packages that it
// wires. It must always hold: the parts of a server run in one group of goroutines (run.go), and the program waits for the group
// before it closes the stores. If a setting is unknown, or cannot be right, the server does not start, and says what to do.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal stops gracefully; the second is not caught, and ends the process
	p := &program{environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(p.run(ctx, os.Args[1:]))
}
