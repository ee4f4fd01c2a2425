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

// version is what the build knows of itself: a tag, else the commit it was built from, else (devel).
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version + " " + info.GoVersion
}
