package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"runtime/debug"

	"hongbao/web/ops/metrics"
)

func versionCommand() command {
	return command{name: "version", summary: "print the version, the commit and the Go release it was built with", setup: func(*flag.FlagSet) func(context.Context, *program) error {
		return func(_ context.Context, p *program) error {
			b := build()
			_, err := fmt.Fprintf(p.stdout, "hongbao %s\ncommit %s\n%s\n", b.Version, b.Commit, b.Go)
			return err
		}
	}}
}

// released and releasedCommit are set by the linker, for a release that is built from sources without their repository:
//
//	go build -ldflags "-X main.released=v1.2.3 -X main.releasedCommit=…" ./cmd/hongbao
var released, releasedCommit string

// build returns what the program was built from.
func build() metrics.Build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info, released, releasedCommit)
}

// buildOf returns the version: as released, or the tag of the sources, or (devel). The commit ends in "dirty" if files were changed
// since. What is not known is "unknown".
func buildOf(info *debug.BuildInfo, version, commit string) metrics.Build {
	b := metrics.Build{Version: version, Commit: commit}
	if info == nil {
		info = &debug.BuildInfo{}
	}
	for _, s := range info.Settings {
		switch {
		case commit != "":
		case s.Key == "vcs.revision":
			b.Commit = s.Value + b.Commit
		case s.Key == "vcs.modified" && s.Value == "true":
			b.Commit += " dirty"
		}
	}
	b.Version, b.Commit, b.Go = cmp.Or(b.Version, info.Main.Version, "unknown"), cmp.Or(b.Commit, "unknown"), cmp.Or(info.GoVersion, "unknown")
	return b
}

// version returns two words: the version and the Go release.
func version() string {
	b := build()
	return b.Version + " " + b.Go
}
