package main

import (
	"fmt"
	"slices"

	"hongbao/redpacket"
	"hongbao/web/page"
)

// skins reads the drawings that the host brings, and returns their names, too.
func (c *config) skins() ([]page.Skin, []redpacket.Skin, error) {
	if c.Skins == "" {
		return nil, nil, nil
	}
	skins, err := page.ReadSkins(c.Skins)
	if err != nil {
		return nil, nil, fmt.Errorf("HONGBAO_SKINS=%s: %w", c.Skins, err)
	}
	var names []redpacket.Skin
	for _, s := range skins {
		name := redpacket.Skin(s.Name)
		if slices.Contains(redpacket.Skins(), name) {
			return nil, nil, fmt.Errorf("HONGBAO_SKINS=%s: the page has a skin %s of its own: rename the file", c.Skins, name)
		}
		names = append(names, name)
	}
	return skins, names, nil
}
