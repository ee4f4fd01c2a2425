// Command hongbao-cluster runs hongbao in three instances on this machine, for play: a Redis, a Postgres and three
// `hongbao serve`, all on loopback, with guests and play money.
//
// It owns the processes it starts and one temporary folder. It must always hold: when it has ended nothing of that is
// left; the instances stop before the servers they need; the terminal's Ctrl-C reaches nobody but it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: hongbao-cluster <hongbao, the program>; `make cluster` builds both")
		os.Exit(2)
	}
	ctx, hurry := twoSignals()
	if err := play(ctx, hurry, os.Args[1], &lines{out: os.Stdout}); err != nil {
		fmt.Fprintln(os.Stderr, "hongbao-cluster:", err)
		os.Exit(1)
	}
}

// twoSignals are contexts that end with the first and with the second signal to stop.
func twoSignals() (first, second context.Context) {
	first, stop := context.WithCancel(context.Background())
	second, rush := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		stop()
		<-signals
		rush()
	}()
	return first, second
}
