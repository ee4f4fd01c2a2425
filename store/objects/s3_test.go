package objects

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/store/storetest"
)

func TestMain(m *testing.M) {
	minio.DefaultRetryUnit = time.Millisecond // the tests of refusals need not wait between tries
	os.Exit(m.Run())
}

const testBucket = "test-bucket"

// fakeS3 is an S3 store in memory that keeps objects, and whose fault answers requests instead if it is set. It knows any key.
type fakeS3 struct {
	*httptest.Server
	store    http.Handler
	kept     *s3mem.Backend
	fault    atomic.Pointer[http.HandlerFunc]
	closing  chan struct{} // closed at the end of the test
	requests atomic.Int64
}

func newFakeS3(t *testing.T) *fakeS3 {
	t.Helper()
	s := &fakeS3{kept: s3mem.New(), closing: make(chan struct{})}
	s.store = gofakes3.New(s.kept, gofakes3.WithTimeSkewLimit(0)).Server()
	noError(t, s.kept.CreateBucket(testBucket))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if fault := s.fault.Load(); fault != nil {
			(*fault)(w, r)
			return
		}
		s.store.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		close(s.closing)
		s.Close()
	})
	return s
}

// breaks lets the function answer all requests.
func (s *fakeS3) breaks(answer http.HandlerFunc) { s.fault.Store(&answer) }

func (s *fakeS3) heals() { s.fault.Store(nil) }

// sent returns how many requests came since it was last called.
func (s *fakeS3) sent() int64 { return s.requests.Swap(0) }

func (s *fakeS3) options() S3Options {
	return S3Options{Endpoint: s.URL, Bucket: testBucket, Prefix: "some/prefix", AccessKey: "test", SecretKey: "secret"}
}

func (s *fakeS3) open(t *testing.T, step time.Duration) *S3 {
	t.Helper()
	o, err := openS3(s.options(), newPatient(step))
	noError(t, err)
	return o
}

// shortTime is the time of a step in tests of stores that do not answer. longTime is never reached.
const (
	shortTime = 20 * time.Millisecond
	longTime  = time.Hour
)

func TestS3KeepsTheContract(t *testing.T) {
	storetest.TestObjects(t, func(t *testing.T) files.Objects { return newFakeS3(t).open(t, longTime) })
}

// TestWithoutChecksumsS3KeepsTheContract sends the content as it is. It also uses a bucket without a prefix.
func TestWithoutChecksumsS3KeepsTheContract(t *testing.T) {
	storetest.TestObjects(t, func(t *testing.T) files.Objects {
		options := newFakeS3(t).options()
		options.NoChecksum, options.Prefix = true, ""
		o, err := openS3(options, newPatient(longTime))
		noError(t, err)
		return o
	})
}

// TestThousandsOfObjects lists and removes more objects than S3 does in one request. The bucket also has objects of others.
func TestThousandsOfObjects(t *testing.T) {
	s := newFakeS3(t)
	o := s.open(t, longTime)
	var want []string
	for i := range mostListed + 2 {
		want = append(want, fmt.Sprintf("room1/file%06d", i))
		s.keep(t, "some/prefix/"+want[i])
	}
	for _, foreign := range []string{"another/prefix", "some/prefix/No Name", "some/prefix2/room1/file1"} {
		s.keep(t, foreign)
	}
	objects, err := o.List(t.Context(), "", "", 5000)
	noError(t, err)
	var got []string
	for _, object := range objects {
		got = append(got, object.Name)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("there are %d objects, want %d", len(got), len(want))
	}
	s.sent()
	noError(t, o.Delete(t.Context(), want...))
	if sent := s.sent(); sent != 2 {
		t.Errorf("%d requests removed %d objects, want 2", sent, len(want))
	}
	if objects, err = o.List(t.Context(), "", "", 5000); err != nil || len(objects) > 0 {
		t.Errorf("there are %d objects: %v", len(objects), err)
	}
}

func (s *fakeS3) keep(t *testing.T, key string) {
	t.Helper()
	_, err := s.kept.PutObject(testBucket, key, nil, strings.NewReader("x"), 1, nil)
	noError(t, err)
}

func TestPutSendsOneRequest(t *testing.T) {
	s := newFakeS3(t)
	o := s.open(t, longTime)
	const size = 40 << 20 // beyond what minio-go would send in parts
	noError(t, o.Put(t.Context(), "room1/file1", io.LimitReader(zeros{}, size), size))
	if sent := s.sent(); sent != 1 {
		t.Errorf("a Put sent %d requests", sent)
	}
	content, got, err := o.Get(t.Context(), "room1/file1", size-1)
	noError(t, err)
	defer content.Close()
	if got != size {
		t.Errorf("the object has %d bytes, want %d", got, size)
	}
}

// zeros is data without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestContentIsChecked looks at what a Put sends for the store to check the content with.
func TestContentIsChecked(t *testing.T) {
	const content = "some content"
	crc := crc32.Checksum([]byte(content), crc32.MakeTable(crc32.Castagnoli))
	sum := base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc))
	for _, test := range []struct {
		name       string
		start      func(http.Handler) *httptest.Server
		noChecksum bool
		sha256     string
		body       string
	}{
		{"HTTP", httptest.NewServer, false, "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "c;chunk-signature="},
		{"HTTPS", httptest.NewTLSServer, false, "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-checksum-crc32c:" + sum},
		{"HTTP without checksums", httptest.NewServer, true, "UNSIGNED-PAYLOAD", content},
		{"HTTPS without checksums", httptest.NewTLSServer, true, "UNSIGNED-PAYLOAD", content},
	} {
		t.Run(test.name, func(t *testing.T) {
			var sha256, body string
			server := test.start(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				data, _ := io.ReadAll(r.Body)
				sha256, body = r.Header.Get("X-Amz-Content-Sha256"), string(data)
			}))
			defer server.Close()
			options := S3Options{Endpoint: server.URL, Bucket: testBucket, AccessKey: "test", SecretKey: "secret", NoChecksum: test.noChecksum}
			transport := newPatient(longTime)
			if trusted, ok := server.Client().Transport.(*http.Transport); ok {
				transport.http.TLSClientConfig = trusted.TLSClientConfig
			}
			o, err := openS3(options, transport)
			noError(t, err)
			put(t, o, "room1/file1", content)
			if sha256 != test.sha256 || !strings.Contains(body, test.body) || !strings.Contains(body, content) {
				t.Errorf("the header is %q, the body %q, want %q and %q", sha256, body, test.sha256, test.body)
			}
		})
	}
}

func TestLink(t *testing.T) {
	s := newFakeS3(t)
	options := s.options()
	options.PublicEndpoint = s.URL
	o, err := OpenS3(options)
	noError(t, err)
	put(t, o, "room1/file1", "content")
	s.sent()
	link, err := o.Link(t.Context(), "room1/file1", files.Headers{Type: "image/png", Disposition: `inline; filename="a b.png"`}, time.Minute)
	noError(t, err)
	if sent := s.sent(); sent > 0 {
		t.Errorf("Link sent %d requests", sent)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	noError(t, err)
	query := r.URL.Query()
	for name, want := range map[string]string{
		"response-content-type": "image/png", "response-content-disposition": `inline; filename="a b.png"`, "X-Amz-Expires": "60",
	} {
		if got := query.Get(name); got != want {
			t.Errorf("the address has %s=%q, want %q", name, got, want)
		}
	}
	response, err := http.DefaultClient.Do(r)
	noError(t, err)
	defer response.Body.Close()
	if got, err := io.ReadAll(response.Body); err != nil || string(got) != "content" {
		t.Errorf("the address gives %q: %v", got, err)
	}
	for _, valid := range []time.Duration{0, 8 * 24 * time.Hour} {
		_, err := o.Link(t.Context(), "room1/file1", files.Headers{}, valid)
		unavailable(t, err, "room1/file1", valid.String())
	}
	if link, err := s.open(t, longTime).Link(t.Context(), "room1/file1", files.Headers{}, time.Minute); link != "" || err != nil {
		t.Errorf("a store without a public endpoint gives out %q: %v", link, err)
	}
}

// calls are all calls that send something.
func calls(t *testing.T, o *S3) map[string]func() error {
	t.Helper()
	return map[string]func() error{
		"put": func() error { return o.Put(t.Context(), "room1/file1", strings.NewReader("new"), 3) },
		"get": func() error {
			_, _, err := readObject(t, o, "room1/file1", 0)
			return err
		},
		"get from an offset on": func() error {
			_, _, err := readObject(t, o, "room1/file1", 2)
			return err
		},
		"delete":        func() error { return o.Delete(t.Context(), "room1/file1") },
		"delete of two": func() error { return o.Delete(t.Context(), "room1/file1", "room1/file2") },
		"list": func() error {
			_, err := o.List(t.Context(), "", "", 10)
			return err
		},
		"check": func() error { return Check(t.Context(), o) },
	}
}

func readObject(t *testing.T, o files.Objects, name string, offset int64) (string, int64, error) {
	t.Helper()
	content, size, err := o.Get(t.Context(), name, offset)
	if err != nil {
		return "", 0, err
	}
	got, err := io.ReadAll(content)
	return string(got), size, errors.Join(err, content.Close())
}

// TestAStoreThatDoesNotAnswer lets each call wait for a store that does not get on. The store waits until the client has gone.
func TestAStoreThatDoesNotAnswer(t *testing.T) {
	silent := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	for name, fault := range map[string]http.HandlerFunc{
		"no headers": silent,
		"half of an error": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>AccessDenied")
			noError(t, http.NewResponseController(w).Flush())
			silent(w, r)
		},
		"half of an answer": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				silent(w, r)
				return
			}
			w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "<")
			noError(t, http.NewResponseController(w).Flush())
			silent(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFakeS3(t)
			o := s.open(t, shortTime)
			s.breaks(fault)
			for doing, call := range calls(t, o) {
				if name == "half of an answer" && doing == "delete" {
					continue // it needs the headers only
				}
				t.Run(doing, func(t *testing.T) {
					s.sent()
					unavailable(t, call(), s.URL+"/"+testBucket)
					if sent := s.sent(); sent > tries {
						t.Errorf("%d requests, want at most %d", sent, tries)
					}
				})
			}
		})
	}
}

func TestAStoreThatTakesNoData(t *testing.T) {
	s := newFakeS3(t)
	s.breaks(func(http.ResponseWriter, *http.Request) { <-s.closing })
	const size = 1 << 30 // more than all buffers between the two
	unavailable(t, s.open(t, shortTime).Put(t.Context(), "room1/file1", io.LimitReader(zeros{}, size), size), s.URL)
}

func TestAStoreThatIsNotThere(t *testing.T) {
	s := newFakeS3(t)
	o := s.open(t, longTime)
	s.Close()
	for doing, call := range calls(t, o) {
		t.Run(doing, func(t *testing.T) { unavailable(t, call(), s.URL, "refused") })
	}
}

// TestRefusals has the errors of S3 stores, and of web servers that are none. Only those that may pass are tried again.
func TestRefusals(t *testing.T) {
	s3Error := func(code string) string {
		return "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>Told by the store.</Message></Error>"
	}
	for _, test := range []struct {
		status int
		body   string
		sent   int64
		says   []string
	}{
		{403, s3Error("AccessDenied"), 1, []string{"Told by the store", "AccessDenied", "s3:PutObject"}},
		{403, s3Error("InvalidAccessKeyId"), 1, []string{"does not know the access key"}},
		{403, s3Error("SignatureDoesNotMatch"), 1, []string{"secret key"}},
		{403, s3Error("RequestTimeTooSkewed"), 1, []string{"set the clock"}},
		{404, s3Error("NoSuchBucket"), 1, []string{"create the bucket"}},
		{400, s3Error("AuthorizationHeaderMalformed"), 1, []string{"set the region"}},
		{301, s3Error("PermanentRedirect"), 1, []string{"set the endpoint"}},
		{501, s3Error("NotImplemented"), 1, []string{"checksums"}},
		{500, s3Error("InternalError"), tries, []string{"InternalError"}},
		{503, s3Error("SlowDown"), tries, []string{"SlowDown"}},
		{404, "<html>no such page</html>", 1, []string{"status 404", "none of an S3 store"}},
		{404, "", 1, []string{"status 404", "none of an S3 store"}},
		{502, "<html>bad gateway</html>", tries, []string{"status 502", "none of an S3 store"}},
	} {
		t.Run(fmt.Sprint(test.status, " ", test.says[0]), func(t *testing.T) {
			s := newFakeS3(t)
			o := s.open(t, longTime)
			s.breaks(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			})
			for doing, call := range calls(t, o) {
				s.sent()
				unavailable(t, call(), append(test.says, s.URL+"/"+testBucket)...)
				want := test.sent
				if doing == "put" || doing == "check" {
					want = 1
				}
				if sent := s.sent(); sent != want {
					t.Errorf("%s: %d requests, want %d", doing, sent, want)
				}
			}
		})
	}
}

// TestRefusalsBeforeTheEndOfTheData answers a Put that is still sending. When Put has returned, nothing reads its data. The race detector finds
// any such read.
func TestRefusalsBeforeTheEndOfTheData(t *testing.T) {
	s := newFakeS3(t)
	o := s.open(t, longTime)
	for _, status := range []int{301, 307, 403, 503} {
		s.breaks(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		for range 5 {
			data := &countingReader{Reader: zeros{}}
			unavailable(t, o.Put(t.Context(), "room1/file1", io.LimitReader(data, 5_000_000), 5_000_000), s.URL)
			data.reads = 0
		}
	}
}

// countingReader counts reads, and is not safe for concurrent use.
type countingReader struct {
	io.Reader
	reads int
}

func (r *countingReader) Read(p []byte) (int, error) {
	r.reads++
	return r.Reader.Read(p)
}

func TestAStoreThatRecoversIsTriedAgain(t *testing.T) {
	s := newFakeS3(t)
	o := s.open(t, longTime)
	put(t, o, "room1/file1", "content")
	for doing, call := range calls(t, o) {
		if doing == "put" || doing == "check" {
			continue
		}
		put(t, o, "room1/file1", "content")
		var answered atomic.Int64
		s.breaks(func(w http.ResponseWriter, r *http.Request) {
			if answered.Add(1) < tries {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			s.store.ServeHTTP(w, r)
		})
		if err := call(); err != nil {
			t.Errorf("%s: %v", doing, err)
		}
		s.heals()
	}
}

// TestConnectionsThatBreak breaks a Get and a Put half-way.
func TestConnectionsThatBreak(t *testing.T) {
	s := newFakeS3(t)
	o := s.open(t, longTime)
	content := strings.Repeat("0123456789", 500_000)
	put(t, o, "room1/file1", content)

	s.breaks(func(w http.ResponseWriter, r *http.Request) {
		s.store.ServeHTTP(&halfWriter{w, 1_000_000}, r)
	})
	got, size, err := readObject(t, o, "room1/file1", 0)
	unavailable(t, err, s.URL, "room1/file1")
	if size != int64(len(content)) || len(got) >= len(content) || !strings.HasPrefix(content, got) {
		t.Errorf("got %d bytes of %d, want some of %d", len(got), size, len(content))
	}

	s.breaks(func(w http.ResponseWriter, r *http.Request) {
		r.Body = io.NopCloser(io.LimitReader(r.Body, 1_000_000))
		s.store.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
	unavailable(t, o.Put(t.Context(), "room1/file1", strings.NewReader(strings.Repeat("x", 5_000_000)), 5_000_000), s.URL, "room1/file1")
	s.heals()
	if got, _, err := readObject(t, o, "room1/file1", 0); err != nil || got != content {
		t.Errorf("after a broken Put the object has %d other bytes: %v", len(got), err)
	}
}

// halfWriter breaks the connection after some bytes.
type halfWriter struct {
	http.ResponseWriter
	left int
}

func (w *halfWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p[:min(len(p), w.left)])
	if w.left -= n; w.left == 0 || err != nil {
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

// TestAStoreThatForgets loses an object.
func TestAStoreThatForgets(t *testing.T) {
	s := newFakeS3(t)
	o := s.open(t, longTime)
	put(t, o, "room1/file1", "content")
	_, err := s.kept.DeleteObject(testBucket, "some/prefix/room1/file1")
	noError(t, err)
	for _, offset := range []int64{0, 3, 100} {
		if _, _, err := o.Get(t.Context(), "room1/file1", offset); !errors.Is(err, chat.ErrNotFound) || errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("from %d on: %v, want %v", offset, err, chat.ErrNotFound)
		}
	}
}

// TestRemovalOfWhatIsNotThere has stores that answer it with an error.
func TestRemovalOfWhatIsNotThere(t *testing.T) {
	s := newFakeS3(t)
	o := s.open(t, longTime)
	s.breaks(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "<Error><Code>NoSuchKey</Code></Error>")
			return
		}
		_, _ = io.WriteString(w, "<DeleteResult><Error><Key>some/prefix/room1/file1</Key><Code>NoSuchKey</Code></Error></DeleteResult>")
	})
	noError(t, o.Delete(t.Context(), "room1/file1"))
	noError(t, o.Delete(t.Context(), "room1/file1", "room1/file2"))
	s.breaks(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "<DeleteResult><Error><Key>some/prefix/room1/file1</Key><Code>AccessDenied</Code></Error></DeleteResult>")
	})
	unavailable(t, o.Delete(t.Context(), "room1/file1", "room1/file2"), "room1/file1", "s3:DeleteObject")
}

// TestAnswersThatAreNotAsAsked has stores that ignore the range, or do not tell the size.
func TestAnswersThatAreNotAsAsked(t *testing.T) {
	s := newFakeS3(t)
	o := s.open(t, longTime)
	put(t, o, "room1/file1", "content")
	s.breaks(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Range")
		s.store.ServeHTTP(w, r)
	})
	_, _, err := o.Get(t.Context(), "room1/file1", 3)
	unavailable(t, err, "from 3 on")
	s.breaks(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		noError(t, http.NewResponseController(w).Flush())
		_, _ = io.WriteString(w, "content")
	})
	_, _, err = o.Get(t.Context(), "room1/file1", 0)
	unavailable(t, err, "size")
}

// TestCheckOfABucket finds stores that answer well, and do wrong.
func TestCheckOfABucket(t *testing.T) {
	s := newFakeS3(t)
	o := s.open(t, longTime)
	noError(t, Check(t.Context(), o))
	if objects, err := o.List(t.Context(), "", "", 10); err != nil || len(objects) > 0 {
		t.Errorf("a check leaves %v: %v", objects, err)
	}
	for deaf, says := range map[string]string{http.MethodPut: "not_found", http.MethodDelete: "must not be found"} { // acknowledged, and not done
		s.breaks(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == deaf {
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(map[string]int{http.MethodPut: http.StatusOK, http.MethodDelete: http.StatusNoContent}[deaf])
				return
			}
			s.store.ServeHTTP(w, r)
		})
		if err := Check(t.Context(), o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("without %s: %v, want %q", deaf, err, says)
		}
	}
}
