// Command hongbao-bench measures hongbao beside what it is to be better than, in the same run on the same machine.
//
// It starts what it needs, private servers on loopback, and stops it. It must always hold: a figure is only shown when
// the result behind it is right (nobody paid twice, sums as they should be, nothing lost), and who is measured
// beside ours gets the same servers, the same callers and the settings that suit him best.
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
	p := &program{stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(p.run(ctx, os.Args[1:]))
}
