package main

import (
	"bytes"
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
	rulesEvery = 3 * time.Second // how often the file of the rules is read
	rulesBytes = 8 << 20
)

// rulesFile is the file with the rules of the installation. A change of it is used within rulesEvery. A file that is wrong then leaves the rules as
// they were.
type rulesFile struct {
	// static
	path string
	log  *slog.Logger
	now  func() time.Time

	set atomic.Pointer[rules.Set]

	reading sync.Mutex
	next    time.Time // guarded by reading; when the file is read again
	content []byte    // guarded by reading; of the rules in use
	refused string    // guarded by reading; why the file was not used the last time
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
	return f, f.read()
}

// rules returns the present rules. It may be called very often.
func (f *rulesFile) rules() *rules.Set {
	if f.reading.TryLock() {
		defer f.reading.Unlock()
		if !f.now().Before(f.next) {
			f.readAgain()
		}
	}
	return f.set.Load()
}

// readAgain reads the file, and logs why it is not used, once for each reason. The caller holds reading.
func (f *rulesFile) readAgain() {
	reason := ""
	if err := f.read(); err != nil {
		reason = err.Error()
	}
	if reason != "" && reason != f.refused {
		f.log.Error("rules file refused, the rules stay as they are", "err", reason)
	}
	f.refused = reason
}

// read uses the rules of the file if it has changed. The caller holds reading or is the only user.
func (f *rulesFile) read() error {
	f.next = f.now().Add(rulesEvery)
	content, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("read HONGBAO_RULES_FILE: %w", err)
	}
	if f.set.Load() != nil && bytes.Equal(content, f.content) {
		return nil
	}
	if len(content) > rulesBytes {
		return fmt.Errorf("read HONGBAO_RULES_FILE: %s has %d bytes, and may have %d", f.path, len(content), rulesBytes)
	}
	var all []rules.Rule
	if err := json.Unmarshal(content, &all); err != nil {
		return fmt.Errorf("read HONGBAO_RULES_FILE: %s is no JSON list of rules: %w", f.path, err)
	}
	set, err := rules.Compile(all, rules.OfInstallation)
	if err != nil {
		return fmt.Errorf("read HONGBAO_RULES_FILE: %s: rule %w", f.path, err)
	}
	f.content = content
	f.set.Store(set)
	return nil
}
