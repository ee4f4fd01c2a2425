package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/chat/rules"
)

const (
	rulesEvery = 3 * time.Second // how often the file of the rules is looked at
	rulesBytes = 8 << 20
)

// rulesFile is the file with the rules of the installation. A change of it is used within rulesEvery. A file that is wrong then leaves the rules as
// they were.
type rulesFile struct {
	path string
	log  *slog.Logger
	now  func() time.Time
	set  atomic.Pointer[rules.Set]
	next atomic.Int64 // Unix milliseconds: when the file is looked at

	mu      sync.Mutex
	changed time.Time // guarded by mu, as size; of the file that was read
	size    int64
}

// rules returns a function that returns the rules of the installation, or nil if there are none.
func (c *config) rules(log *slog.Logger) (func() *rules.Set, error) {
	if c.RulesFile == "" {
		return nil, nil
	}
	f, err := openRules(c.RulesFile, time.Now, log)
	if err != nil {
		return nil, err
	}
	return f.rules, nil
}

// openRules reads the file.
func openRules(path string, now func() time.Time, log *slog.Logger) (*rulesFile, error) {
	f := &rulesFile{path: path, log: log, now: now}
	f.next.Store(now().Add(rulesEvery).UnixMilli())
	return f, f.read()
}

// rules returns the present rules. It may be called very often.
func (f *rulesFile) rules() *rules.Set {
	now, next := f.now(), f.next.Load()
	if now.UnixMilli() >= next && f.next.CompareAndSwap(next, now.Add(rulesEvery).UnixMilli()) {
		if err := f.read(); err != nil {
			f.log.Error("rules not read: those before stay", "err", err)
		}
	}
	return f.set.Load()
}

// read reads the file if it has changed.
func (f *rulesFile) read() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	if err != nil {
		return fmt.Errorf("read HONGBAO_RULES_FILE: %w", err)
	}
	if info.ModTime().Equal(f.changed) && info.Size() == f.size {
		return nil
	}
	if info.Size() > rulesBytes {
		return fmt.Errorf("read HONGBAO_RULES_FILE: %s has %d bytes, and may have %d", f.path, info.Size(), rulesBytes)
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("read HONGBAO_RULES_FILE: %w", err)
	}
	var all []rules.Rule
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("read HONGBAO_RULES_FILE: %s is no JSON list of rules: %w", f.path, err)
	}
	set, err := rules.Compile(all, rules.OfInstallation)
	if err != nil {
		return fmt.Errorf("read HONGBAO_RULES_FILE: %s: rule %w", f.path, err)
	}
	f.set.Store(set)
	f.changed, f.size = info.ModTime(), info.Size()
	return nil
}
