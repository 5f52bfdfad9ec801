// A table system in C++ (libcurl, SQLite, OpenSSL) that follows the rules of client/README.md:
//   1  an event is on the disk before it is sent    3  stored is what a receipt with a good signature is of
//   2  one request at a time, in order              4  next_seq of a gap is followed; a conflict stops
//   5  the same again, after a growing pause with chance, while no answer, 408, 429 or 5xx comes
//
//   c++ -std=c++17 -O2 -o table_system table_system.cpp $(pkg-config --cflags --libs libcurl sqlite3 libcrypto)
//   ./table_system SPOOL URL KEY STREAM < lines       a line is {"type": …, "occurred_at": …, "data": {…}}
//
// It may be killed at any instant: started again with the lines from event N on, where N is what `./table_system SPOOL`
// prints, it goes on. Exit status 0: the record has everything; 1: stopped, see stderr. SQLite reads the JSON.
#include <curl/curl.h>
#include <openssl/evp.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
using Text = std::string;
using Row = std::vector<Text>;
struct Spool {
    sqlite3* database = nullptr;
    explicit Spool(const char* path) {
        if (sqlite3_open(path, &database) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database));
        sqlite3_busy_timeout(database, 30000);
        ask("pragma journal_mode = wal"), ask("pragma synchronous = full");  // rule 1: a commit has reached the disk
        ask("create table if not exists event (seq integer primary key, envelope text not null)");
        ask("create table if not exists receipt (last_seq integer primary key, content text not null)");
        ask("create table if not exists head (one integer primary key check (one = 1), acknowledged integer not null)");
        ask("insert or ignore into head values (1, 0)");
    }
    // The rows of a statement; every value is text, as SQLite makes it.
    std::vector<Row> ask(const Text& statement, const Row& values = {}) {
        sqlite3_stmt* prepared = nullptr;
        if (sqlite3_prepare_v2(database, statement.c_str(), -1, &prepared, nullptr) != SQLITE_OK)
            throw std::runtime_error(sqlite3_errmsg(database));
        for (size_t i = 0; i < values.size(); ++i)
            sqlite3_bind_text(prepared, int(i) + 1, values[i].data(), int(values[i].size()), SQLITE_TRANSIENT);
        std::vector<Row> rows;
        int state;
        while ((state = sqlite3_step(prepared)) == SQLITE_ROW) {
            Row row;
            for (int i = 0; i < sqlite3_column_count(prepared); ++i) {
                const unsigned char* value = sqlite3_column_text(prepared, i);
                row.push_back(value ? reinterpret_cast<const char*>(value) : "");
            }
            rows.push_back(row);
        }
        sqlite3_finalize(prepared);
        if (state != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(database));
        return rows;
    }
    Text one(const Text& statement, const Row& values = {}) {
        auto rows = ask(statement, values);
        return rows.empty() ? "" : rows[0][0];
    }
    long number(const Text& statement, const Row& values = {}) { return std::stol("0" + one(statement, values)); }
    // A field of a JSON document, "" if there is none.
    Text field(const Text& document, const Text& name) {
        return one("select case when json_valid(?1) then json_extract(?1, '$.' || ?2) end", {document, name});
    }
    long next_seq() { return 1 + number("select max(seq) from event"); }
    void append(const Text& stream, const Text& line) {
        Text seq = std::to_string(next_seq());
        ask("insert into event values (cast(?1 as integer),"
            " json_set(?2, '$.stream', ?3, '$.seq', cast(?1 as integer)))", {seq, line, stream});
    }
};

struct Answer {
    long status = 0;  // 0: none came, or not all of it
    curl_off_t retry_after_s = 0;
    Text body;
};

size_t collect(char* bytes, size_t size, size_t count, void* into) {
    static_cast<Text*>(into)->append(bytes, size * count);
    return size * count;
}

struct Record {
    Text url, key;
    CURL* curl = curl_easy_init();
    Answer ask(const Text& path, const Text* body = nullptr) {
        Answer answer;
        curl_easy_reset(curl);  // keeps the connection
        curl_slist* headers = curl_slist_append(nullptr, ("Authorization: Bearer " + key).c_str());
        headers = curl_slist_append(headers, "Content-Type: application/json");
        curl_easy_setopt(curl, CURLOPT_URL, (url + path).c_str());
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer.body);
        if (body) curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, long(body->size()));
        if (body) curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->data());
        if (curl_easy_perform(curl) == CURLE_OK) {
            curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
            curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &answer.retry_after_s);
        }
        curl_slist_free_all(headers);
        return answer;
    }
};

Text decoded(const Text& base64) {
    Text raw(base64.size() / 4 * 3, '\0');
    int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(raw.data()),
                               reinterpret_cast<const unsigned char*>(base64.data()), int(base64.size()));
    raw.resize(size < 0 ? 0 : size - std::count(base64.begin(), base64.end(), '='));
    return raw;
}

bool verifies(const Text& key, const Text& signature, const Text& content) {
    auto bytes = [](const Text& text) { return reinterpret_cast<const unsigned char*>(text.data()); };
    EVP_PKEY* public_key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes(key), key.size());
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    bool is_good = public_key && EVP_DigestVerifyInit(context, nullptr, nullptr, nullptr, public_key) == 1 &&
                   EVP_DigestVerify(context, bytes(signature), signature.size(), bytes(content), content.size()) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(public_key);
    return is_good;
}

// Rule 3: whether one of the published keys signed the receipt, and it is of event `last` of the stream.
bool is_receipt(Spool& spool, const Text& keys, const Text& receipt, const Text& stream, long last) {
    Text signature = decoded(spool.field(receipt, "signature"));
    if (signature.size() != 68 || spool.field(receipt, "stream") != stream) return false;
    auto number = [&](const Text& name) { return std::stol("0" + spool.field(receipt, name)); };
    if (number("first_seq") > last || number("last_seq") < last) return false;
    Text content = "cabochon-receipt/v1\n" + spool.one(  // the names in order, without spaces
        "select json_object('chain', ?1->>'chain', 'first_seq', ?1->'first_seq', 'last_seq', ?1->'last_seq',"
        " 'next_seq', ?1->'next_seq', 'received_at', ?1->>'received_at', 'root', ?1->>'root', 'stream',"
        " ?1->>'stream')", {receipt});
    auto rows = spool.ask("select value->>'id', value->>'public_key' from json_each(iif(json_valid(?1), ?1, '{}'),"
                          " '$.keys') where value->>'purpose' = 'receipt'", {keys});
    const char* digits = "0123456789abcdef";
    Text id;
    for (unsigned char byte : signature.substr(0, 4)) id += {digits[byte >> 4], digits[byte & 15]};
    return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
        return row[0] == id && verifies(decoded(row[1]), signature.substr(4), content);
    });
}

int send(Spool& spool, Record& record, const Text& stream) {
    std::mt19937 chance(std::random_device{}());
    Text keys;
    for (int failures = 0;;) {
        long acknowledged = spool.number("select acknowledged from head");
        auto rows = spool.ask("select seq, envelope from event where seq > ?1 + 0 order by seq limit 300",
                              {std::to_string(acknowledged)});
        if (rows.empty()) return 0;
        if (keys.empty()) keys = record.ask("/api/v1/log/key").body;  // of anything else, no key is read
        Text body;
        long last = 0;
        for (auto& row : rows) {
            if (last && body.size() + row[1].size() > 900000) break;
            body += (body.empty() ? "[" : ",") + row[1];
            last = std::stol(row[0]);
        }
        body += "]";
        Answer answer = record.ask("/api/v1/streams/" + stream + "/events", &body);
        Text next = spool.field(answer.body, "next_seq"), code = spool.field(answer.body, "code");
        if (answer.status == 200 || answer.status == 201) {
            if (is_receipt(spool, keys, answer.body, stream, last)) {
                spool.ask("insert or replace into receipt values (?1 + 0, ?2)", {std::to_string(last), answer.body});
                spool.ask("update head set acknowledged = ?1 + 0", {std::to_string(last)});
                failures = 0;
                continue;
            }
            keys.clear();  // they may have been rotated; nothing counts as stored meanwhile
        } else if ((code == "gap" || code == "not-opened") && std::stol(next) != acknowledged + 1 &&
                   std::stol(next) <= spool.next_seq()) {
            spool.ask("update head set acknowledged = ?1 - 1", {next});  // rule 4; also after a restored record
            continue;
        } else if (answer.status >= 402 && answer.status < 500 && answer.status != 408 && answer.status != 429) {
            std::cerr << stream << " is stopped: " << answer.status << " " << answer.body << "\n";
            return 1;
        }
        double longest_s = std::min(60.0, 0.2 * double(1 << std::min(failures++, 9)));  // rule 5
        std::uniform_real_distribution<> pause_s(longest_s / 2, longest_s);
        std::this_thread::sleep_for(std::chrono::duration<double>(pause_s(chance) + double(answer.retry_after_s)));
    }
}

int main(int count, char** words) try {
    if (count != 2 && count != 5) throw std::runtime_error("table_system SPOOL [URL KEY STREAM]");
    Spool spool(words[1]);
    if (count == 2) return std::cout << spool.next_seq() << "\n", 0;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    Record record{words[2], words[3]};
    for (Text line; std::getline(std::cin, line);) spool.append(words[4], line);
    return send(spool, record, words[4]);
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
