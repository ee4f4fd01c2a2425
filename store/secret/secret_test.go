package secret

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hongbao/redpacket"
)

func keysOf(t *testing.T, lines ...string) *Keys {
	t.Helper()
	keys, err := parse(strings.Join(lines, "\n"), "data.key")
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

var one, two = strings.Repeat("01", keySize), strings.Repeat("02", keySize)

func TestValueIsBoundToItsColumnAndRow(t *testing.T) {
	keys := keysOf(t, one)
	value := []byte("value")
	stored := keys.encrypt("column", "row", value)
	if got, err := keys.decrypt("column", "row", stored); err != nil || !bytes.Equal(got, value) {
		t.Errorf("decrypted %q, %v", got, err)
	}
	if bytes.Equal(stored, keys.encrypt("column", "row", value)) {
		t.Error("the same value is encrypted in the same way twice")
	}
	for _, place := range [][2]string{{"column", "other"}, {"other", "row"}, {"column\x00r", "ow"}} {
		if got, err := keys.decrypt(place[0], place[1], stored); err == nil {
			t.Errorf("in %q it is %q", place, got)
		}
	}
	for i := range stored {
		changed := bytes.Clone(stored)
		changed[i] ^= 1
		if _, err := keys.decrypt("column", "row", changed); err == nil {
			t.Errorf("byte %d was changed, and it is decrypted", i)
		}
		if _, err := keys.decrypt("column", "row", stored[:i]); err == nil {
			t.Errorf("only %d bytes are left, and they are decrypted", i)
		}
	}
}

// TestNextSeedFormat decrypts a stored value: the format never changes.
func TestNextSeedFormat(t *testing.T) {
	stored, err := hex.DecodeString("01729e54ec98e52b1b5636320594c342cf826fb9264c06f39772944ac5759b057186fa45ebd0eb462a837dd8901fc23280a295a27c9cbe5d10cd0d3443868240323a2f4c63")
	if err != nil {
		t.Fatal(err)
	}
	seed, drawn, err := keysOf(t, one).NextSeed("ann", stored)
	if want := redpacket.Seed(bytes.Repeat([]byte{9}, 32)); err != nil || !drawn || seed != want {
		t.Errorf("seed %x, %v, %v", seed, drawn, err)
	}
}

func TestEitherKeyDecryptsAndTheFirstEncrypts(t *testing.T) {
	old, both, fresh := keysOf(t, one), keysOf(t, "# rotated", two, "", one), keysOf(t, two)
	seed := redpacket.NewSeed()
	stored := old.EncryptNextSeed("ann", seed)
	if got, _, err := both.NextSeed("ann", stored); err != nil || got != seed || both.Current(stored) {
		t.Errorf("%x, %v", got, err)
	}
	if _, _, err := fresh.NextSeed("ann", stored); !errors.Is(err, ErrNoKey) || !strings.Contains(err.Error(), old.First().String()) {
		t.Errorf("without its key: %v", err)
	}
	again := both.EncryptNextSeed("ann", seed)
	if got, _, err := fresh.NextSeed("ann", again); err != nil || got != seed || !fresh.Current(again) {
		t.Errorf("%x, %v", got, err)
	}
	hash := []byte("hash")
	if stored := old.RequestHash(hash); !both.SameRequest(stored, hash) || fresh.SameRequest(stored, hash) || both.SameRequest(stored, []byte("other")) {
		t.Error("a request is not recognised by its keys")
	}
}

// TestReceiptKeyNeverChanges compares the seed of the key with one that another program has derived. A new first key signs.
func TestReceiptKeyNeverChanges(t *testing.T) {
	old := keysOf(t, one).ReceiptKey()
	if got := hex.EncodeToString(old.Seed()); got != "a9d9311aa9fb327526132c7da6e6fafeb7b8b80c2fc7c882c4f797a8f6f8a27a" {
		t.Errorf("the seed is %s", got)
	}
	keys := keysOf(t, two, one)
	if !keys.ReceiptKey().Equal(keysOf(t, two).ReceiptKey()) || keys.ReceiptKey().Equal(old) {
		t.Error("the receipts are not signed by the first key")
	}
	if keys = nil; keys.ReceiptKey() != nil {
		t.Error("there is a key of receipts without a data key")
	}
}

func TestPassphraseLengthIsHidden(t *testing.T) {
	keys := keysOf(t, one)
	lengths := map[int]string{}
	for _, phrase := range []string{"4", "42", "open sesame", strings.Repeat("安", 20)} {
		p := redpacket.Packet{Ref: redpacket.Ref{ID: "p"}, Passphrase: phrase}
		stored := keys.Packet(p, redpacket.Seed{}, nil).Passphrase
		lengths[len(stored)] = phrase
		if got, err := keys.Passphrase("p", stored, true); err != nil || got != phrase {
			t.Errorf("%q is read as %q, %v", phrase, got, err)
		}
	}
	if len(lengths) != 1 {
		t.Errorf("the stored lengths tell the passphrases apart: %v", lengths)
	}
}

func TestKeyFileIsChecked(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "0 keys",
		"# only a comment\n":              "0 keys",
		one + "\n" + one + "\n":           "twice",
		one + "\n" + two + "\n" + one[2:]: "key 3",
		strings.Repeat("03", 16) + "\n":   "64 hex digits",
		one + "\n" + strings.Repeat("g", 64) + "\n": "key 2",
	} {
		file := filepath.Join(t.TempDir(), "data.key")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(file)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v, want %q and the file", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), one[:20]) {
			t.Errorf("the error has the key: %v", err)
		}
	}
}

func TestKeyFileOfOthersIsRefused(t *testing.T) {
	for mode, ok := range map[fs.FileMode]bool{
		0o600: true, 0o400: true, 0o640: true, 0o440: true, 0o644: false, 0o604: false, 0o602: false, 0o660: false, 0o777: false,
	} {
		file := filepath.Join(t.TempDir(), "data.key")
		if err := Create(file); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "chmod 600 "+file) {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
}

// TestConcurrentCreatorsGetOneKey creates a key file from several goroutines at once. All must read the same key.
func TestConcurrentCreatorsGetOneKey(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "data.key")
	var (
		wg  sync.WaitGroup
		ids [16]string
	)
	for i := range ids {
		wg.Go(func() {
			keys, err := ReadOrCreate(file)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = keys.First().String()
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("different keys: %v", ids)
			break
		}
	}
	if err := Create(file); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second key: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v", left, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

func BenchmarkNextSeed(b *testing.B) {
	keys, err := parse(one, "data.key")
	if err != nil {
		b.Fatal(err)
	}
	stored := keys.EncryptNextSeed("user-1", redpacket.NewSeed())
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := keys.NextSeed("user-1", stored); err != nil {
			b.Fatal(err)
		}
	}
}
