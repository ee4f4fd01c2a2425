package web

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"testing"

	"hongbao/web/page"
)

// vendored holds the SHA-256 of each file that others have written, as it is in the package on npm. Compare a new version
// with its package before you change the hash.
var vendored = map[string]string{
	"static/vendor/centrifuge.js":          "2e9a24e8495900b030008edd8a8d3746a218a213044b5ed15635fbadac24d4b8", // centrifuge 5.8.0
	"static/vendor/centrifuge.LICENSE.txt": "8212f3cd2bcd2cab7e66f5337926e11c3f99822d2016ae41fb1b4e084e5c5128",
	"static/vendor/preact.mjs":             "bdcbd9abdf2c77c5c45326eab42191e949222d479d0d5f69467387a77040cb55", // preact 11.2.0
	"static/vendor/preact.LICENSE.txt":     "1fe6958409c8c257a70c587a18b6f7f412b179b456630790d30b2ec9a8e4b7d4",
}

const (
	axeFile = "../cmd/hongbao/e2e/browser/testdata/axe/axe.min.js"
	axeSum  = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c" // axe-core, for tests only
)

// TestVendoredFilesAreUnchanged fails if a file below vendor has changed, is new or is missing.
func TestVendoredFilesAreUnchanged(t *testing.T) {
	axe, err := os.ReadFile(axeFile)
	if sum := sha256.Sum256(axe); err != nil || hex.EncodeToString(sum[:]) != axeSum {
		t.Errorf("%s has the hash %x, %v; want %s", axeFile, sum, err, axeSum)
	}
	found := map[string]bool{}
	err = fs.WalkDir(page.Static, "static/vendor", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := page.Static.ReadFile(name)
		sum := sha256.Sum256(data)
		if got := hex.EncodeToString(sum[:]); got != vendored[name] {
			t.Errorf("%s has the hash %s, want %q", name, got, vendored[name])
		}
		found[name] = true
		return err
	})
	noError(t, err)
	for name := range vendored {
		if !found[name] {
			t.Errorf("%s is missing", name)
		}
	}
}
