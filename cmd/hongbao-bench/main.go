// Command hongbao-bench compares hongbao with its peers, in the same run on the same machine. A peer is a published
// scheme or a usual way to do the same. In comments "ours" is hongbao. The subcommands load and abuse measure hongbao
// without a peer. Articles 1 to 3 are the publications of the schemes: see package schemes.
//
// It starts the private servers that it needs on loopback, and stops them. It must always hold: the figures of compare and
// load come with the checks of the result behind them (no user paid twice, sums as they should be, nothing lost). engines
// shows no figures if a check of its results has failed. A scheme gets the same servers and callers as ours in compare, and
// the settings that suit it best.
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
