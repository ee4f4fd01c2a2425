package main

import (
	"context"
	"flag"
	"fmt"
	"runtime/debug"
)

func versionCommand() command {
	return command{name: "version", summary: "print the version and the Go release it was built with", setup: func(*flag.FlagSet) func(context.Context, *program) error {
		return func(_ context.Context, p *program) error {
			_, err := fmt.Fprintln(p.stdout, "hongbao", version())
			return err
		}
	}}
}

// version returns two words: the tag that the program was built from, or its commit, or (devel); and the Go release. Without
// this information it returns "unknown".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version + " " + info.GoVersion
}
