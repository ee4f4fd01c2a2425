package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// deployFiles are the files with which operators run the program.
func deployFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../web/docs/deploy/*")
	noError(t, err)
	if len(files) == 0 {
		t.Fatal("web/docs/deploy is empty")
	}
	return append(files, "../../Dockerfile", "../../compose.yaml")
}

// TestDeployFilesNameSettings checks that the files for operators name only settings that exist: the program refuses others.
func TestDeployFilesNameSettings(t *testing.T) {
	known := map[string]bool{}
	for _, s := range new(config).settings() {
		known[s.env] = true
	}
	named := regexp.MustCompile(`HONGBAO_[A-Z_]+[A-Z]`)
	for _, file := range deployFiles(t) {
		text, err := os.ReadFile(file)
		noError(t, err)
		for _, name := range named.FindAllString(string(text), -1) {
			if !known[name] {
				t.Errorf("%s names %s, which is not a setting", filepath.Base(file), name)
			}
		}
	}
}

// TestSystemdUnit has systemd judge the unit, where systemd is installed.
func TestSystemdUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	text, err := os.ReadFile("../../web/docs/deploy/hongbao.service")
	noError(t, err)
	self, err := os.Executable()
	noError(t, err)
	unit := filepath.Join(t.TempDir(), "hongbao.service")
	noError(t, os.WriteFile(unit, []byte(strings.ReplaceAll(string(text), "/usr/local/bin/hongbao", self)), 0o600))
	if out, err := exec.CommandContext(t.Context(), analyze, "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	// 15 means an exposure of 1.5: a unit without any protection has 9.6.
	if out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--threshold=15", unit).CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}
