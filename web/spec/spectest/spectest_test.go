package spectest

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestMismatch checks valid frames and changed ones. Mismatch must accept the former and refuse the latter.
func TestMismatch(t *testing.T) {
	d := AsyncAPI(t)
	for name, frame := range map[string]string{
		"command.grab":  `{"id":1,"rpc":{"method":"grab"}}`,
		"reply.send":    `{"id":7,"rpc":{"data":{"seq":1,"id":"e","at":1,"dup":false}}}`,
		"push.left":     `{"push":{"message":{"data":{"left":{"room":"r","reason":"left"}}}}}`,
		"entry.recall":  `{"push":{"channel":"room:r","pub":{"offset":1,"data":{"seq":1,"id":"e","at":1,"from":{"id":"u","name":"n"},"kind":"recall","body":{"target":1}}}}}`,
		"error":         `{"id":7,"error":{"code":1003,"message":"muted"}}`,
		"command.react": `{"id":7,"rpc":{"method":"react","data":{"room":"r","seq":1,"emoji":"x","on":true}}}`,
	} {
		schema := d.At("#/components/messages/" + name).(Object)["payload"].(Object)
		var value any
		if err := json.Unmarshal([]byte(frame), &value); err != nil {
			t.Fatal(err)
		}
		if bad := d.Mismatch(schema, value); bad != "" {
			t.Errorf("%s does not match its schema: %s", name, bad)
		}
		for _, change := range [][2]string{
			{`"room":"r"`, `"room":7`}, {`"id":7`, `"id":0`}, {`"dup":false`, `"dup":0`}, {`"dup":false`, `"dup":false,"more":1`}, {`,"at":1`, ``},
			{`"reason":"left"`, `"reason":"gone"`}, {`"left":{"`, `"typing":{"`}, {`"target":1`, `"target":1.5`}, {`"target":1`, `"target":1,"text":"x"`},
			{`"kind":"recall"`, `"kind":"react"`}, {`"message":"muted"`, ``}, {`1003`, `1999`}, {`"seq":1,"emoji"`, `"seq":0,"emoji"`},
			{`"emoji":"x"`, `"emoji":""`}, {`"method":"grab"`, `"method":"grap"`}, {`room:r`, `r`}, {`"id":7`, `"id":null`}, {`{"target":1}`, `[]`},
		} {
			changed := strings.Replace(frame, change[0], change[1], 1)
			if changed == frame || json.Unmarshal([]byte(changed), &value) != nil {
				continue
			}
			if d.Mismatch(schema, value) == "" {
				t.Errorf("%s matches the schema of %s, want a mismatch", changed, name)
			}
		}
	}
}
