package webtest

import (
	"os"
	"path/filepath"
	"regexp"

	"github.com/chromedp/chromedp"
)

// Screenshot saves an image of the page as an artifact of the test. The files remain with go test -artifacts.
func (v *Visitor) Screenshot(name string) {
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
