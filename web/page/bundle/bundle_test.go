package bundle

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func files(of map[string]string) map[string][]byte {
	all := map[string][]byte{}
	for name, text := range of {
		all[name] = []byte(text)
	}
	return all
}

var page = map[string]string{
	"app/main.js": `// Starts.
import { count, add } from './model/count.js';
import { h } from './dom.js';

/**
 * Private names of two modules may be equal.
 */
const own = 'main';
add(2);
globalThis.told = [own, count, h(1)];
globalThis.done = import('./views/later.js').then(({ show }) => show());
`,
	"app/dom.js": "// The library.\nexport { h, g } from '../vendor/lib.mjs';\n",
	"app/model/count.js": `import { times } from '../../sdk/math.js';
export let count = 0;
/** @type {number} */ const own = 3;
export function add(n) { count += times(n, own); }
export class Box { static make() { return new Box(); } }
`,
	"sdk/math.js": "export const times = (a, b) => a * b;\nexport async function never() {}\n",
	"app/views/later.js": `import { add, count } from '../model/count.js';
import { name } from './part.js';
const own = 'later';
export async function show() {
  add(1);
  const { default: words } = await import('../words/en.js');
  return [own, count, name, words.hello, new URL('../x.css', import.meta.url).pathname.split('/').slice(-2).join('/')];
}
`,
	"app/views/part.js": "export const name = 'part';\n",
	"app/words/en.js":   "export default { hello: 'Hello' };\n",
	"vendor/lib.mjs":    "const h=(x)=>x*10,g=1;export{h,g};",
}

func options(of map[string][]byte) Options {
	return Options{Files: of, Entry: "app/main.js", Apart: []string{"vendor/", "app/words/"}, First: "page.js", Later: "more.js"}
}

// TestJoin runs the joined files: variables that change are seen by importers, private names do not meet, and modules that are imported
// dynamically share the state of the others.
func TestJoin(t *testing.T) {
	b, err := Join(options(files(page)))
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Apart) != 1 || b.Apart[0] != "vendor/lib.mjs" || len(b.Joined) != 6 {
		t.Errorf("apart %q, joined %q", b.Apart, b.Joined)
	}
	if first := string(b.First); strings.Contains(first, "Starts") || strings.Contains(first, "Private") || strings.Contains(first, "part.js") {
		t.Errorf("the first file holds comments, or modules for later:\n%s", first)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the tests of the page run the joined files, too")
	}
	dir := t.TempDir()
	written := files(page)
	written["page.js"], written["more.js"], written["package.json"] = b.First, b.Later, []byte(`{"type":"module"}`)
	written["run.js"] = []byte("import './page.js';\nconst later = await globalThis.done;\nconsole.log(JSON.stringify([globalThis.told, later]));\n")
	for name, data := range written {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), node, filepath.Join(dir, "run.js")).CombinedOutput()
	if want := `[["main",6,10],["later",9,"part","Hello","app/x.css"]]`; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("the joined files say %s, %v, want %s\n%s\n%s", out, err, want, b.First, b.Later)
	}
}

// TestJoinRefuses joins modules that the package cannot join. The error names the module and the reason.
func TestJoinRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"choose another name":   {"app/views/part.js", "export const name = 1;\nexport const add = 2;\n"},
		"there is no module":    {"app/views/part.js", "import { x } from './none.js';\nexport const name = 1;\n"},
		"under another name":    {"app/views/part.js", "import { add as more } from '../model/count.js';\nexport const name = 1;\n"},
		"in one place":          {"app/views/part.js", "import { g } from '../../vendor/lib.mjs';\nexport const name = 1;\n"},
		"export default":        {"app/views/part.js", "export default 1;\n"},
		"import * as":           {"app/views/part.js", "import * as all from '../model/count.js';\n"},
		"[1, 2].forEach":        {"app/views/part.js", "export const name = 1;\n[1, 2].forEach(alert);\n"},
		"export const { a, b }": {"app/views/part.js", "export const { a, b } = globalThis;\n"},
	} {
		changed := files(page)
		changed[change[0]] = []byte(change[1])
		if _, err := Join(options(changed)); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), change[0]) {
			t.Errorf("%q: error %v, want one about %q", change[1], err, name)
		}
	}
}
