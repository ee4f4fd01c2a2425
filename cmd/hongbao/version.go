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

// version returns the tag that the program was built from, else the commit, else (devel), and the Go release.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version + " " + info.GoVersion
}
