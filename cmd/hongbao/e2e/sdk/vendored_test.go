package sdk

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"
)

// TestVendoredSDKsAreUnchanged compares our copies with dist/ of centrifuge 5.8.0 on npm.
func TestVendoredSDKsAreUnchanged(t *testing.T) {
	for file, want := range map[string]string{
		centrifugeJSON:     "2e9a24e8495900b030008edd8a8d3746a218a213044b5ed15635fbadac24d4b8",
		centrifugeProtobuf: "ca3a5d8a0d8d159c88a40f5132fbc7bea3b36555ccda39bb97e4297455999c3f",
	} {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(code)); got != want {
			t.Errorf("%s has sha256 %s, want %s", file, got, want)
		}
	}
}
