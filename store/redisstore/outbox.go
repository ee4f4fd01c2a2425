package redisstore

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hongbao/redpacket"
)

// An entry of the outbox is the text "time image user share user share …", by share. The time, in us, is its name; the image
// is the packet's key.

// appendClaims takes an entry of a partition apart.
func (p *Pool) appendClaims(claims []redpacket.Claim, partition int, entry string) ([]redpacket.Claim, error) {
	name, rest, _ := strings.Cut(entry, " ")
	image, rest, _ := strings.Cut(rest, " ")
	when, ours := entryTime(name)
	id, found := strings.CutPrefix(image, p.keys(partition).image)
	words := strings.Split(rest, " ")
	if !ours || !found || len(words)%2 != 0 {
		return claims, fmt.Errorf("the outbox holds %q", entry)
	}
	c := redpacket.Claim{Ref: redpacket.Ref{ID: id, Partition: partition}, Entry: name, At: when}
	for i := 0; i < len(words); i += 2 {
		share, err := strconv.Atoi(words[i+1])
		if err != nil {
			return claims, err
		}
		c.User, c.Share = words[i], share
		claims = append(claims, c)
	}
	return claims, nil
}

// entryTime tells when the entry was written; not ok: no entry of ours is called so.
func entryTime(name string) (when time.Time, ok bool) {
	us, err := strconv.ParseUint(name, 10, 63)
	return time.UnixMilli(int64(us / 1000)), err == nil
}

// entryText is an entry that holds exactly these claims.
func (p *Pool) entryText(name string, r redpacket.Ref, grants []redpacket.Grant) string {
	slices.SortFunc(grants, func(a, b redpacket.Grant) int {
		return cmp.Or(cmp.Compare(a.Share, b.Share), cmp.Compare(a.User, b.User))
	})
	grants = slices.Compact(grants)
	text := []byte(name + " " + p.keys(r.Partition).image + r.ID)
	for _, g := range grants {
		text = append(append(append(text, ' '), g.User...), ' ')
		text = strconv.AppendInt(text, int64(g.Share), 10)
	}
	return string(text)
}
