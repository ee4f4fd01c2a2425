package webtest

import (
	"os"
	"path/filepath"
	"regexp"

	"github.com/chromedp/chromedp"
)

// Picture makes a picture of what is seen, among the artifacts of the test: go test -artifacts keeps them.
func (v *Visitor) Picture(name string) {
	v.tb.Helper()
	png, err := Try(v.Tab, chromedp.CaptureScreenshot())
	if err != nil {
		v.tb.Fatalf("picture %s: %v", name, err)
	}
	if err := os.WriteFile(filepath.Join(v.tb.ArtifactDir(), fileName.ReplaceAllString(name, "-")+".png"), png, 0o600); err != nil {
		v.tb.Fatal(err)
	}
}

var fileName = regexp.MustCompile(`[^\pL\pN]+`)
