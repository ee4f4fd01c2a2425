package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
)

// speed holds the settings of the subcommand that plays this version against an earlier one, in turn.
type speed struct {
	than   string
	rounds int
	budget time.Duration
	worse  float64

	say func(format string, args ...any)
}

// whatUsersSee are the sections whose figures are compared: grabs that are committed, the three answers to a grab, and broadcasts.
const whatUsersSee = "grab,sockets,broadcast"

func speedCommand() command {
	return command{name: "speed", summary: "play this version against an earlier commit, in turn; fails if a figure is worse", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		s := &speed{}
		fs.StringVar(&s.than, "than", "", "commit to compare with; it must be in this repository")
		fs.IntVar(&s.rounds, "rounds", 5, "rounds of each version")
		fs.DurationVar(&s.budget, "budget", 1500*time.Millisecond, "time for each side of a match")
		fs.Float64Var(&s.worse, "worse", 0.08, "how much worse a median may be")
		return func(ctx context.Context, p *program) error {
			if s.than == "" || s.rounds < 1 {
				return errors.New("want --than COMMIT, and at least one round")
			}
			s.say = p.say
			return s.run(ctx, p.stdout)
		}
	}}
}

// version is a built version.
type version struct {
	name, dir string
	figures   figures
}

// figures are the results of the rounds, by name. Higher is better.
type figures map[string][]float64

func (s *speed) run(ctx context.Context, out io.Writer) (err error) {
	temp, err := os.MkdirTemp("", "hongbao-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	tree := filepath.Join(temp, "tree")
	if _, err := output(ctx, "", "git", "worktree", "add", "--detach", tree, s.than); err != nil {
		return fmt.Errorf("check out %s: %w", s.than, err)
	}
	defer func() {
		_, removed := output(context.WithoutCancel(ctx), "", "git", "worktree", "remove", "--force", tree)
		err = errors.Join(err, removed)
	}()
	versions := []*version{{s.than, filepath.Join(temp, "than"), figures{}}, {"this version", filepath.Join(temp, "this"), figures{}}}
	for i, source := range []string{tree, ""} {
		s.say("building %s", versions[i].name)
		if _, err := output(ctx, source, "go", "build", "-o", versions[i].dir+"/", "./cmd/hongbao", "./cmd/hongbao-bench"); err != nil {
			return err
		}
	}
	for round := range s.rounds {
		for _, v := range versions {
			s.say("round %d of %d: %s", round+1, s.rounds, v.name)
			if err := s.play(ctx, v); err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
		}
		slices.Reverse(versions) // each is the first one in turn
	}
	slices.SortFunc(versions, func(a, b *version) int { return strings.Compare(a.dir, b.dir) }) // than, this
	return compareFigures(out, versions[0].figures, versions[1].figures, s.worse)
}

// play plays one round of a version.
func (s *speed) play(ctx context.Context, v *version) error {
	text, err := output(ctx, "", filepath.Join(v.dir, "hongbao-bench"), "engines", "--json", "--rounds", "1", "--budget", s.budget.String(),
		"--only", whatUsersSee, "--hongbao", filepath.Join(v.dir, "hongbao"))
	if err != nil {
		return err
	}
	var results []measure.Result
	if err := json.Unmarshal(text, &results); err != nil {
		return err
	}
	for _, r := range results {
		v.figures[r.Name] = append(v.figures[r.Name], r.Ours.Median)
	}
	return nil
}

// output runs a program and returns what it prints. Its messages become part of the error.
func output(ctx context.Context, dir, program string, args ...string) ([]byte, error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // our own programs, go and git
	cmd.Dir, cmd.Stderr = dir, &said
	text, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), args[0], err, said.Bytes())
	}
	return text, err
}

// compareFigures prints the medians of both versions and their ratio. It returns an error that names the figures that are worse by more
// than a part of this size.
func compareFigures(out io.Writer, than, this figures, worse float64) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "figure\tbefore\tnow\tnow/before\t") // a tabwriter keeps its first error for Flush
	var slower []string
	for _, name := range slices.Sorted(maps.Keys(than)) {
		if len(this[name]) == 0 {
			return fmt.Errorf("this version has no figure %q: compare with a later commit", name)
		}
		before, now := measure.Median(than[name]), measure.Median(this[name])
		verdict := ""
		if now < before*(1-worse) {
			verdict, slower = "WORSE", append(slower, name)
		}
		_, _ = fmt.Fprintf(t, "%s\t%.0f [%.0f-%.0f]\t%.0f [%.0f-%.0f]\t%.2f\t%s\n", name, before, slices.Min(than[name]), slices.Max(than[name]),
			now, slices.Min(this[name]), slices.Max(this[name]), now/before, verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(slower) > 0 {
		return fmt.Errorf("worse by more than %.0f %%: %s", 100*worse, strings.Join(slower, "; "))
	}
	return nil
}
