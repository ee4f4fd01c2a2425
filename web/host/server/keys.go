package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"hongbao/chat"
	"hongbao/web/host/hostapi"
)

// Key is one line of the keys file.
type Key struct {
	Name   string // of the program that uses the key; a key and the key that replaces it have the same name
	Hash   [sha256.Size]byte
	Scopes []hostapi.Scope
	Rate   chat.Rate // of requests, on one instance; keys of the same name use up one token bucket
}

// May reports whether the key may call operations of the scope.
func (k Key) May(scope hostapi.Scope) bool {
	return k.has(scope) || scope == hostapi.Read && slices.Contains(k.Scopes, hostapi.Support)
}

func (k Key) has(scope hostapi.Scope) bool {
	return slices.Contains(k.Scopes, scope) || slices.Contains(k.Scopes, hostapi.Admin)
}

// readsTexts reports whether the key may read texts of users without a reason.
func (k Key) readsTexts() bool { return k.has(hostapi.Read) }

// DefaultRate limits the requests of a key whose line names no rate.
var DefaultRate = chat.Rate{PerSecond: 500, Burst: 1000}

const (
	keyPrefix   = "hbk_"
	hashPrefix  = "sha256:"
	maxKeysFile = 1 << 20
	sameName    = 2 // how many keys may have one name
)

var validKeyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$`)

// NewKey makes a random key. It returns the secret, which is stored nowhere, and the key's line for the keys file.
func NewKey(name string, scopes []hostapi.Scope) (secret, line string, err error) {
	words := make([]string, len(scopes))
	for i, s := range scopes {
		words[i] = string(s)
	}
	secret = keyPrefix + rand.Text() + rand.Text()
	hash := sha256.Sum256([]byte(secret))
	line = name + " " + hashPrefix + hex.EncodeToString(hash[:]) + " " + strings.Join(words, ",")
	_, err = parseKey(line)
	return secret, line, err
}

// ParseKeys parses a keys file: one key a line, with its name, the SHA-256 of its secret, its scopes and, optionally, its
// requests a second. Empty lines and lines that begin with # are ignored.
func ParseKeys(text []byte) ([]Key, error) {
	var keys []Key
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		k, err := parseKey(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		same := 0
		for _, other := range keys {
			if other.Hash == k.Hash {
				return nil, fmt.Errorf("line %d: the keys %s and %s have the same hash: draw each with `hongbao apikey new`", i+1, other.Name, k.Name)
			}
			if other.Name == k.Name {
				same++
			}
		}
		if same == sameName {
			return nil, fmt.Errorf("line %d: %s is the name of more than %d keys: remove the oldest", i+1, k.Name, sameName)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

func parseKey(line string) (Key, error) {
	words := strings.Fields(line)
	if len(words) < 3 || len(words) > 4 {
		return Key{}, fmt.Errorf("%d words, want a name, %s with the hash, scopes, and perhaps requests a second", len(words), hashPrefix)
	}
	k := Key{Name: words[0], Rate: DefaultRate}
	if !validKeyName.MatchString(k.Name) {
		return Key{}, fmt.Errorf("the name %q must have 1 to 32 of A-Z a-z 0-9 _ . - and begin with a letter or digit", k.Name)
	}
	digits, ok := strings.CutPrefix(words[1], hashPrefix)
	hash, err := hex.DecodeString(digits)
	if !ok || err != nil || len(hash) != sha256.Size {
		return Key{}, fmt.Errorf("the hash of %s must be %s and 64 hex digits", k.Name, hashPrefix)
	}
	copy(k.Hash[:], hash)
	for word := range strings.SplitSeq(words[2], ",") {
		s := hostapi.Scope(word)
		if !slices.Contains(hostapi.Scopes(), s) {
			return Key{}, fmt.Errorf("%s has the scope %q, which is none of %v", k.Name, word, hostapi.Scopes())
		}
		k.Scopes = append(k.Scopes, s)
	}
	if len(words) == 4 {
		n, err := strconv.Atoi(words[3])
		if err != nil || n < 1 || n > 1_000_000 {
			return Key{}, fmt.Errorf("%s may send %q requests a second: say 1 to 1000000", k.Name, words[3])
		}
		k.Rate = chat.Rate{PerSecond: float64(n), Burst: 2 * n}
	}
	return k, nil
}

// Keys are the keys of a file. Run replaces them when the file has changed.
type Keys struct {
	// static
	file string
	log  *slog.Logger

	content []byte // the content from which current was read; used by ReadKeys and then by Run only
	refused string // why the file was not used the last time: it was not valid or could not be read; used by Run only
	current atomic.Pointer[[]Key]
}

// ReadKeys reads the keys file.
func ReadKeys(file string, log *slog.Logger) (*Keys, error) {
	k := &Keys{file: file, log: log}
	content, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	keys, err := parseFile(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	k.content = content
	k.current.Store(&keys)
	return k, nil
}

func parseFile(content []byte) ([]Key, error) {
	switch {
	case len(content) > maxKeysFile:
		return nil, fmt.Errorf("the file has %d bytes, want at most %d", len(content), maxKeysFile)
	case len(bytes.TrimSpace(content)) == 0: // the file was probably not filled in yet
		return nil, errors.New("the file is empty: write a line with # to have no keys, or `hongbao apikey new` to add one")
	}
	return ParseKeys(content)
}

// Names returns the names of the keys, each once.
func (k *Keys) Names() []string {
	var names []string
	for _, key := range *k.current.Load() {
		names = append(names, key.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// readEvery is how often Run reads the keys file.
const readEvery = 2 * time.Second

// Run reads the keys file again and again until ctx ends. A file that cannot be read, or is not valid, leaves the keys as they
// are.
func (k *Keys) Run(ctx context.Context) {
	ticker := time.NewTicker(readEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			k.Reload()
		case <-ctx.Done():
			return
		}
	}
}

// Reload reads the keys file now. Run calls it; other callers must not while Run runs.
func (k *Keys) Reload() {
	content, err := os.ReadFile(k.file)
	if err != nil {
		k.refuse(err)
		return
	}
	if bytes.Equal(content, k.content) {
		k.refused = ""
		return
	}
	keys, err := parseFile(content)
	if err != nil {
		k.refuse(err)
		return
	}
	k.content, k.refused = content, ""
	k.current.Store(&keys)
	k.log.Info("API keys in use", "file", k.file, "keys", k.Names())
}

// refuse logs why the file is not used, once for each reason.
func (k *Keys) refuse(err error) {
	if reason := err.Error(); reason != k.refused {
		k.refused = reason
		k.log.Warn("keys file refused, the API keys stay as they are", "file", k.file, "err", err)
	}
}
