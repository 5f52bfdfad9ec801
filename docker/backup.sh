#!/bin/sh
# A base backup of PostgreSQL every day, checked, and the write-ahead log from the oldest that is kept on.
#
#   backup.sh once      takes one and ends
#   backup.sh           takes one now, and then one each BACKUP_EVERY_S seconds
#
# PostgreSQL archives its log in $BACKUP/archive (archive_command); this writes $BACKUP/base/TIME. $BACKUP is /backup,
# the newest BACKUP_KEEP base backups are kept. The address is that of libpq: PGHOST, PGUSER. docs/recovery.md says how
# it is restored.
set -eu
backup=${BACKUP:-/backup}
keep=${BACKUP_KEEP:-7}

take() {
    name=$(date -u +%Y-%m-%dT%H%M%SZ)
    rm -rf "$backup"/base/*.unfinished
    mkdir -p "$backup/base"
    pg_basebackup --pgdata "$backup/base/$name.unfinished" --checkpoint fast --wal-method none --no-password
    pg_verifybackup --no-parse-wal --quiet "$backup/base/$name.unfinished"
    mv "$backup/base/$name.unfinished" "$backup/base/$name"
    ls -1d "$backup"/base/*Z | sort -r | tail -n "+$((keep + 1))" | while read -r old; do rm -rf "$old"; done
    # What is older than the oldest base backup restores nothing any more.
    oldest=$(ls -1d "$backup"/base/*Z | sort | head -n 1)
    first=$(sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]*\))$/\1/p' "$oldest/backup_label")
    pg_archivecleanup "$backup/archive" "$first"
    # What /metrics and the alert of an old backup go by; a database that is not Cabochon's yet has no such table.
    psql --no-psqlrc --quiet --command "insert into audit_heartbeat (name, beat_at) values ('backup', clock_timestamp())
        on conflict (name) do update set beat_at = excluded.beat_at" || echo "not noted in the database"
    echo "base backup $name; $(ls "$backup/archive" | wc -l) files of the log from $first on"
}

if [ "${1:-}" = once ]; then
    take
    exit
fi
while true; do
    # One that fails is tried again within the hour; the container's log and its health say so.
    if take; then touch "$backup/last"; sleep "${BACKUP_EVERY_S:-86400}"; else sleep 3600; fi
done
