package fill

import (
	"fmt"
	"math"
	"strings"

	"hongbao/redpacket"
	"hongbao/store/chain"
	"hongbao/store/secret"
)

// packetLeaf returns the leaf of a packet in clear.
func packetLeaf(b redpacket.Book, seals chain.Seals) chain.Hash {
	var none *secret.Keys
	return chain.PacketLeaf(b.Packet, none.Packet(b.Packet, b.Seed, b.Shares), seals)
}

// A few words of every language that people chat in. Others are made of syllables.
var (
	usual     = strings.Fields("the and you it is to me we on in lunch tomorrow today thanks ok yes no great 今天 明天 谢谢 好的 我们 吃饭 红包 新年快乐 恭喜发财")
	syllables = strings.Fields("ka mo ri ten bo lu sha ne vi do pra el um yo ge fi tan os wi ze 天 地 人 山 水 火 木 金 土 日 月 风 云 花 雨 春")
)

// word returns the word with this number. The first are the usual ones.
func word(n int) string {
	if n < len(usual) {
		return usual[n]
	}
	var text strings.Builder
	for n -= len(usual); n >= 0; n = n/len(syllables) - 1 {
		text.WriteString(syllables[n%len(syllables)])
	}
	return text.String()
}

// differentWords is how many words are in use.
const differentWords = 50_000

// text returns 3 to 14 words. As in every language, a word is the rarer the higher its number is.
func (w *world) text() string {
	var b strings.Builder
	for i := range 3 + w.random.IntN(12) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word(int(math.Pow(differentWords, w.random.Float64())) - 1))
	}
	return b.String()
}

// name returns the name of a user.
func name(n int) string { return word(n%differentWords) + " " + word(n*7%differentWords) }

// roomName returns the name of a room.
func roomName(n int) string {
	return fmt.Sprintf("%s %s %d", word(n*13%differentWords), word(n%40), n)
}
