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

// An entry of the outbox is called by Redis's own id, "ms-n", and holds its claims as text, "user share user share …", by share.

// appendClaims takes the text apart. e is what the claims have in common.
func appendClaims(claims []redpacket.Claim, e redpacket.Claim, text string) ([]redpacket.Claim, error) {
	ms, ok := entryTime(e.Entry)
	words := strings.Split(text, " ")
	if !ok || len(words)%2 != 0 {
		return claims, fmt.Errorf("entry %q of the outbox holds %q", e.Entry, text)
	}
	e.At = time.UnixMilli(ms)
	for i := 0; i < len(words); i += 2 {
		share, err := strconv.Atoi(words[i+1])
		if err != nil {
			return claims, err
		}
		e.User, e.Share = words[i], share
		claims = append(claims, e)
	}
	return claims, nil
}

// entryTime tells when the entry was written; not ok: no entry of ours is called so.
func entryTime(entry string) (ms int64, ok bool) {
	at, n, _ := strings.Cut(entry, "-")
	ms, err := strconv.ParseInt(at, 10, 64)
	_, err2 := strconv.ParseUint(n, 10, 64)
	return ms, err == nil && err2 == nil && ms >= 0
}

// claimsText is the text of claims, in the form in which an entry that holds exactly these has it.
func claimsText(grants []redpacket.Grant) string {
	slices.SortFunc(grants, func(a, b redpacket.Grant) int {
		return cmp.Or(cmp.Compare(a.Share, b.Share), cmp.Compare(a.User, b.User))
	})
	grants = slices.Compact(grants)
	var b strings.Builder
	for i, g := range grants {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(g.User)
		b.WriteByte(' ')
		b.WriteString(strconv.Itoa(g.Share))
	}
	return b.String()
}
