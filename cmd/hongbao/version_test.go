package main

import (
	"runtime/debug"
	"strings"
	"testing"

	"hongbao/web/ops/metrics"
)

func TestBuildNamesVersionAndCommit(t *testing.T) {
	sources := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "v1.0.0"}, Settings: []debug.BuildSetting{
		{Key: "vcs.modified", Value: "true"}, {Key: "vcs.revision", Value: "abc"},
	}}
	clean := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "false"},
	}}
	for _, c := range []struct {
		info            *debug.BuildInfo
		version, commit string
		want            metrics.Build
	}{
		{sources, "", "", metrics.Build{Version: "v1.0.0", Commit: "abc dirty", Go: "go1.26"}},
		{clean, "", "", metrics.Build{Version: "(devel)", Commit: "abc", Go: "go1.26"}},
		{clean, "v2.0.0", "def", metrics.Build{Version: "v2.0.0", Commit: "def", Go: "go1.26"}},
		{nil, "", "", metrics.Build{Version: "unknown", Commit: "unknown", Go: "unknown"}},
	} {
		if got := buildOf(c.info, c.version, c.commit); got != c.want {
			t.Errorf("released %q %q: %+v, want %+v", c.version, c.commit, got, c.want)
		}
	}
}

func TestVersionIsPrinted(t *testing.T) {
	out := mustPrint(t, 0, "hongbao ", "version")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[1], "commit ") || !strings.HasPrefix(lines[2], "go1.") {
		t.Errorf("hongbao version prints %q, want the version, the commit and the Go release", out)
	}
}
