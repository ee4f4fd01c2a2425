package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"sync"
	"time"

	"hongbao/cmd/hongbao-bench/load"
)

// profiled returns a function that runs a load, and writes CPU profiles of it into the folder, for `go tool pprof`. Each
// run makes one file of this process, and one of each instance.
func profiled(ctx context.Context, folder string, instances []*instance) func(load.Plan, func() error) error {
	played := 0
	return func(p load.Plan, play func() error) error {
		played++
		if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // readable by everyone, like the reports
			return err
		}
		name := func(part string) string {
			return filepath.Join(folder, fmt.Sprintf("%d-%s-%s.pb.gz", played, p.Scenario, part))
		}
		theirs := make([]error, len(instances))
		var servers sync.WaitGroup
		for n, i := range instances {
			servers.Go(func() { theirs[n] = i.profile(ctx, name(fmt.Sprintf("server-%d", n+1)), p.Duration) })
		}
		err := profileHere(name("generator"), play)
		servers.Wait()
		return errors.Join(err, errors.Join(theirs...))
	}
}

// profileHere writes a CPU profile of this process to the file, while play runs.
func profileHere(name string, play func() error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return errors.Join(err, file.Close())
	}
	err = play()
	pprof.StopCPUProfile()
	return errors.Join(err, file.Close())
}

// profile lets the instance profile itself for the given time.
func (i *instance) profile(ctx context.Context, name string, lasting time.Duration) error {
	url := fmt.Sprintf("%sdebug/pprof/profile?seconds=%d", i.ops, int(max(lasting, time.Second).Seconds()))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	return errors.Join(err, writeFile(name, text))
}
