// Command hongbao-cluster runs three instances of hongbao on this machine to try them out: a Redis, a Postgres and three
// `hongbao serve`, all on loopback, with guests and, unless a key of tokens is set, play money.
//
// It owns the processes that it starts and one temporary folder. It must always hold: when it has ended, neither the processes nor
// the folder are left, unless it was killed; the instances stop before the servers that they need. On Linux, the terminal's Ctrl-C
// reaches only this process.
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
	if err := run(ctx, hurry, os.Args[1], &lines{out: os.Stdout}); err != nil {
		fmt.Fprintln(os.Stderr, "hongbao-cluster:", err)
		os.Exit(1)
	}
}

// twoSignals returns contexts that end with the first and with the second signal to stop.
func twoSignals() (first, second context.Context) {
	first, stop := context.WithCancel(context.Background())
	second, stopAtOnce := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		stop()
		<-signals
		stopAtOnce()
	}()
	return first, second
}
