// Command hongbao-bench compares hongbao with its peers, in the same run on the same machine. A peer is a published
// scheme or a usual way to do the same. In comments "ours" is hongbao.
//
// It starts the private servers that it needs on loopback, and stops them. It must always hold: a figure is only shown
// when the result behind it is right (no user paid twice, sums as they should be, nothing lost). A peer gets the same
// servers, the same callers and the settings that suit it best.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal stops in good order; a second one kills
	p := &program{stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(p.run(ctx, os.Args[1:]))
}
