package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSkinsOfTheHostHaveNamesOfTheirOwn reads folders of drawings. A name of the page's own skins must be refused, and an error must name the setting.
func TestSkinsOfTheHostHaveNamesOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(dir, "dragon.svg"), []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), 0o600))
	c := &config{Skins: dir}
	skins, names, err := c.skins()
	if err != nil || len(skins) != 1 || len(names) != 1 || names[0] != "dragon" {
		t.Errorf("the skins are %v with the names %v, error %v; want dragon", skins, names, err)
	}
	noError(t, os.Rename(filepath.Join(dir, "dragon.svg"), filepath.Join(dir, "koi.svg")))
	if _, _, err := c.skins(); err == nil || !strings.Contains(err.Error(), "HONGBAO_SKINS="+dir) || !strings.Contains(err.Error(), "a skin koi of its own") {
		t.Errorf("a second koi: %v", err)
	}
}
