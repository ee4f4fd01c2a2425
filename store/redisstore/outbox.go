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

// The outbox of a partition is a sorted set. Each of its entries is the text "time image user share user share …",
// ordered by share. The time, in microseconds, is the entry's name. The image is the key of the packet's image.

// appendClaims decodes an entry of a partition's outbox and appends its claims.
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

// entryTime returns when the entry with this name was written. ok is false if no entry can have this name.
func entryTime(name string) (when time.Time, ok bool) {
	us, err := strconv.ParseUint(name, 10, 63)
	return time.UnixMilli(int64(us / 1000)), err == nil
}

// entryText encodes an entry with exactly these claims.
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
