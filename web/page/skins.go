package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path"
	"regexp"
	"strings"

	"hongbao/web/page/bundle"
)

// The bounds of the drawings that a host brings.
const (
	maxSkins     = 12
	maxSkinBytes = 64 << 10
	maxSkinSide  = 1024 // pixels
)

// skinPolicy lets a drawing do nothing if a user opens its address.
const skinPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"

// Skin is a drawing of the host's own on envelopes.
type Skin struct {
	Name string `json:"name"` // what send_packet calls it
	URL  string `json:"url"`  // relative to the page

	file bundle.File
}

var skinName = regexp.MustCompile(`^[\pL\pN][\pL\pN-]{0,23}$`)

// ReadSkins reads the drawings in a folder, in the order of their names. A file is called as its skin. It passes over files whose name begins with a point.
func ReadSkins(dir string) ([]Skin, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	folder, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	var skins []Skin
	seen := map[string]bool{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		s, err := readSkin(folder, e.Name())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		if seen[s.Name] {
			return nil, fmt.Errorf("there are two drawings with the name %s: leave one", s.Name)
		}
		seen[s.Name] = true
		skins = append(skins, s)
	}
	if len(skins) == 0 || len(skins) > maxSkins {
		return nil, fmt.Errorf("the folder has %d drawings, and must have 1 to %d", len(skins), maxSkins)
	}
	return skins, nil
}

func readSkin(folder *os.Root, file string) (Skin, error) {
	kind := path.Ext(file)
	check, ok := map[string]func([]byte) error{".svg": checkSVG, ".png": checkPNG}[kind]
	if !ok {
		return Skin{}, errors.New("a drawing is a file .svg or .png")
	}
	name := strings.TrimSuffix(file, kind)
	if !skinName.MatchString(name) {
		return Skin{}, errors.New("the name of a skin has 1 to 24 letters, digits and hyphens, and begins with no hyphen: rename the file")
	}
	f, err := folder.Open(file)
	if err != nil {
		return Skin{}, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxSkinBytes+1))
	if err != nil {
		return Skin{}, err
	}
	if len(data) > maxSkinBytes {
		return Skin{}, fmt.Errorf("a drawing has at most %d bytes", maxSkinBytes)
	}
	if err := check(data); err != nil {
		return Skin{}, err
	}
	sum := sha256.Sum256(data)
	url := "skins/" + hex.EncodeToString(sum[:8]) + kind
	return Skin{Name: name, URL: url, file: bundle.Permanent(url, data)}, nil
}

func checkPNG(data []byte) error {
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("is no PNG: %w", err)
	}
	if max(c.Width, c.Height) > maxSkinSide {
		return fmt.Errorf("has %d by %d pixels, and may have %d by %d", c.Width, c.Height, maxSkinSide, maxSkinSide)
	}
	return nil
}

// checkSVG refuses what is no drawing: scripts, and what refers to other files. Browsers load neither from a picture, but a user may open its address.
func checkSVG(data []byte) error {
	root := ""
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("is no SVG: %w", err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		name := strings.ToLower(e.Name.Local)
		if root == "" {
			root = name
		}
		if name == "script" || name == "foreignobject" {
			return fmt.Errorf("has an element %s, which a drawing may not have", e.Name.Local)
		}
		for _, a := range e.Attr {
			switch attribute := strings.ToLower(a.Name.Local); {
			case strings.HasPrefix(attribute, "on"):
				return fmt.Errorf("has an attribute %s, which a drawing may not have", a.Name.Local)
			case attribute == "href" && !strings.HasPrefix(a.Value, "#") && !strings.HasPrefix(a.Value, "data:image/"):
				return fmt.Errorf("refers to %.60q: a drawing must hold all of itself", a.Value)
			}
		}
	}
	if root != "svg" {
		return fmt.Errorf("is no SVG: it begins with the element %q", root)
	}
	return nil
}
