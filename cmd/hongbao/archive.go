package main

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"hongbao/chat"
	"hongbao/chat/archive"
	"hongbao/chat/archive/slack"
	"hongbao/store"
)

const archiveName = "archive.jsonl" // in the folder that an export writes

func importCommand() command {
	return command{name: "import", summary: "read users, rooms and texts from an archive; in embedded mode with the server stopped", setup: func(set *flag.FlagSet) func(context.Context, *program) error {
		file := set.String("from", "", "the archive, a file of JSON lines, or - for standard input; files of texts lie beside it")
		return func(ctx context.Context, p *program) error {
			if *file == "" {
				return errors.New("from where? Say --from <file>; web/docs/archive.md describes the form")
			}
			return p.importFrom(ctx, *file)
		}
	}}
}

func (p *program) importFrom(ctx context.Context, file string) (err error) {
	from, folder := p.stdin, "."
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return err
		}
		defer opened.Close() //nolint:errcheck // it was only read
		from, folder = opened, filepath.Dir(file)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	engines, err := store.OpenForImport(ctx, p.config.engines(), p.log())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engines.Close()) }()
	done, err := archive.Import(ctx, engines.Store, from, archive.Options{
		Files: engines.Files, Folder: root.FS(), Limits: chat.DefaultLimits(), Index: p.config.Search != "off", Told: p.archiveProgress("importing"), Log: p.log(),
	})
	if err != nil {
		return fmt.Errorf("%w\nwhat stands before is imported; run the command again when the line is right: it goes on", err)
	}
	p.print(fmt.Sprintf("imported: %d users, %d rooms, %d members, %d texts, %d files\n", done.Users, done.Rooms, done.Members, done.Texts, done.Files))
	p.printCount(done.Known, "texts were imported before")
	p.printCount(done.Refused, "members could not be added, such as guests in a room that takes none")
	p.printCount(done.LeftOut, "lines are left out: they are about users that are erased here")
	p.printCount(done.Unsolved, "replies are to texts that the archive does not have: they are no replies now")
	return nil
}

// printCount prints what was left out, if there is any.
func (p *program) printCount(n int, what string) {
	if n > 0 {
		p.print(fmt.Sprintf("  %d %s\n", n, what))
	}
}

// archiveProgress returns a function that logs every tenth second how far an import or export has come.
func (p *program) archiveProgress(doing string) func(archive.Done) {
	last, log := time.Now(), p.log()
	return func(d archive.Done) {
		if now := time.Now(); now.Sub(last) >= 10*time.Second {
			last = now
			log.Info(doing, slog.Int("users", d.Users), slog.Int("rooms", d.Rooms), slog.Int("texts", d.Texts+d.Known), slog.Int("files", d.Files))
		}
	}
}

func exportCommand() command {
	return command{name: "export", summary: "write users, rooms and texts to an archive that import reads, even while a server runs", setup: func(set *flag.FlagSet) func(context.Context, *program) error {
		to := set.String("to", "", "a folder, which is made; it must not have an archive yet. With --user a zip file that must not exist yet")
		user := set.String("user", "", "id of the only user that is exported: profile, rooms, all that the user has sent, money and files")
		return func(ctx context.Context, p *program) error {
			switch {
			case *to == "":
				return errors.New("where to? Say --to <new folder>, or with --user --to <new zip file>")
			case *user != "":
				return p.exportUser(ctx, *user, *to)
			}
			return p.exportTo(ctx, *to)
		}
	}}
}

func (p *program) exportTo(ctx context.Context, folder string) (err error) {
	engines, err := store.OpenForExport(ctx, p.config.engines(), p.log())
	if err != nil {
		return explainNoBooks(err)
	}
	defer func() { err = errors.Join(err, engines.Close()) }()
	if err := os.MkdirAll(filepath.Join(folder, "files"), 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	lines, err := root.OpenFile(archiveName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s has an archive, which is not replaced: name a new folder", folder)
	}
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(lines, 1<<20)
	done, err := archive.Export(ctx, engines.Store, engines.Files, archive.Target{Lines: buffered, Create: func(path string) (io.WriteCloser, error) {
		return root.OpenFile(filepath.FromSlash(path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	}}, p.archiveProgress("exporting"))
	err = cmp.Or(err, buffered.Flush(), lines.Sync())
	if err := errors.Join(err, lines.Close()); err != nil {
		return errors.Join(err, root.Remove(archiveName)) // half an archive looks like a whole one
	}
	p.print(fmt.Sprintf("%s has %d users, %d rooms, %d members, %d texts; %d files beside it\n", filepath.Join(folder, archiveName), done.Users, done.Rooms, done.Members, done.Texts, done.Files))
	p.printCount(done.LeftOut, "texts and rooms are left out: recalled texts, and rooms without members")
	p.printCount(done.Lost, "files are left out: the object store does not have them")
	p.print("packets, wallets and settings are not in an archive: see hongbao backup\n")
	return nil
}

func slackCommand() command {
	return command{name: "slack", summary: "convert an export of a Slack workspace to an archive that import reads", setup: func(set *flag.FlagSet) func(context.Context, *program) error {
		file := set.String("zip", "", "the zip file of the export")
		to := set.String("to", "", "the archive, a file that must not exist yet")
		ids := set.String("ids", "", "a CSV file with the id of a user in Slack and in your product in each line; others keep the id of Slack")
		return func(_ context.Context, p *program) error {
			switch {
			case *file == "":
				return errors.New("which export? Say --zip <file>")
			case *to == "":
				return errors.New("where to? Say --to <new file>")
			}
			return p.convertSlack(*file, *to, *ids)
		}
	}}
}

func (p *program) convertSlack(file, to, ids string) (err error) {
	known, err := readIDs(ids)
	if err != nil {
		return err
	}
	export, err := zip.OpenReader(file)
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	defer export.Close() //nolint:errcheck // it was only read
	lines, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists and is not replaced: name a new file", to)
	}
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(lines, 1<<20)
	done, err := slack.Convert(&export.Reader, buffered, slack.Options{IDs: known, Limits: chat.DefaultLimits()})
	if err := errors.Join(err, buffered.Flush(), lines.Close()); err != nil {
		return errors.Join(fmt.Errorf("convert %s: %w", file, err), os.Remove(to))
	}
	p.print(fmt.Sprintf("%s has %d users, %d rooms, %d texts; hongbao import --from %s reads it\n", to, done.Users, done.Rooms, done.Texts, to))
	p.printCount(done.Notes, "notes of Slack are left out, such as that a user has joined")
	p.printCount(done.Empty, "messages are left out that have no author, time or text")
	p.printCount(done.Reactions, "reactions are left out whose emojis have no equal here")
	return nil
}

// readIDs reads the CSV file of --ids. Without a file it returns nil.
func readIDs(file string) (map[string]string, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer text.Close() //nolint:errcheck // it was only read
	lines := csv.NewReader(text)
	lines.FieldsPerRecord = 2
	records, err := lines.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	ids := make(map[string]string, len(records))
	for n, r := range records {
		if err := chat.CheckUser("id", r[1]); err != nil {
			return nil, fmt.Errorf("read %s: line %d: %w", file, n+1, err)
		}
		ids[r[0]] = r[1]
	}
	return ids, nil
}
