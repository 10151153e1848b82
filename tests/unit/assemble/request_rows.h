/* request_rows.h -- test data: conversations in every shape of rows, and the request of each in every protocol, in
 * the order of `protocols`.  JSON with ' for ". */
#ifndef MAKI_TESTS_REQUEST_ROWS_H
#define MAKI_TESTS_REQUEST_ROWS_H

#include "tap.h"
#include "wire/wire.h"

static const struct {
    maki_protocol protocol;
    const char *name;
} protocols[] = {
    { MAKI_WIRE_ANTHROPIC, "anthropic" }, { MAKI_WIRE_CHAT, "openai" },
    { MAKI_WIRE_RESPONSES, "responses" }, { MAKI_WIRE_OLLAMA, "ollama" },
    { MAKI_WIRE_GEMINI, "gemini" },
};

static const struct {
    const char *name, *lines, *bodies[COUNT(protocols)];
} message_rows[] = {
    { "plain words in four scripts, escapes kept",
      "{'role':'user','content':'巻き寿司 \\\\ \\t\\'x\\'','ts':1,'x':2}\n{'role':'assistant','cont"
      "ent':'你好'}\n{'role':'user','content':'안녕'}\n{'role':'assistant','content':[{'type':'text"
      "','text':'👩‍👩‍👧'}]}\n{'role':'user','content':'go'}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'巻き寿司 \\\\ \\t\\'x\\"
          "''},{'role':'assistant','content':'你好'},{'role':'user','content':'안녕'},{'role':'assistan"
          "t','content':[{'type':'text','text':'👩‍👩‍👧'}]},{'role':'user','content':'go'}]}",
          "{'model':'m','messages':[{'role':'user','content':'巻き寿司 \\\\ \\t\\'x\\''},{'role':'assis"
          "tant','content':'你好'},{'role':'user','content':'안녕'},{'role':'assistant','content':[{'ty"
          "pe':'text','text':'👩‍👩‍👧'}]},{'role':'user','content':'go'}]}",
          "{'model':'m','store':false,'input':[{'role':'user','content':'巻き寿司 \\\\ \\t\\'x\\''},{'r"
          "ole':'assistant','content':'你好'},{'role':'user','content':'안녕'},{'role':'assistant','con"
          "tent':[{'type':'output_text','text':'👩‍👩‍👧'}]},{'role':'user','content':'go'}]}",
          "{'model':'m','stream':false,'messages':[{'role':'user','content':'巻き寿司 \\\\ \\t\\'x\\''}"
          ",{'role':'assistant','content':'你好'},{'role':'user','content':'안녕'},{'role':'assistant',"
          "'content':'👩‍👩‍👧'},{'role':'user','content':'go'}]}",
          "{'contents':[{'role':'user','parts':[{'text':'巻き寿司 \\\\ \\t\\'x\\''}]},{'role':'model','"
          "parts':[{'text':'你好'}]},{'role':'user','parts':[{'text':'안녕'}]},{'role':'model','parts':"
          "[{'text':'👩‍👩‍👧'}]},{'role':'user','parts':[{'text':'go'}]}]}",
      } },
    { "system messages before all others and among them",
      "{'role':'system','content':'s'}\n{'role':'developer','content':[{'type':'text','text':'d"
      "'}]}\n{'role':'user','content':'a'}\n{'role':'assistant','content':'b'}\n{'role':'system"
      "','content':'[Previous conversation summary]\\nx'}\n{'role':'user','content':'c'}\n",
      {
          "{'model':'m','max_tokens':8192,'system':[{'type':'text','text':'s'},{'type':'text','text"
          "':'d'}],'messages':[{'role':'user','content':'a'},{'role':'assistant','content':'b'},{'r"
          "ole':'user','content':[{'type':'text','text':'[Previous conversation summary]\\nx'},{'ty"
          "pe':'text','text':'c'}]}]}",
          "{'model':'m','messages':[{'role':'system','content':'s'},{'role':'developer','content':["
          "{'type':'text','text':'d'}]},{'role':'user','content':'a'},{'role':'assistant','content'"
          ":'b'},{'role':'system','content':'[Previous conversation summary]\\nx'},{'role':'user','"
          "content':'c'}]}",
          "{'model':'m','store':false,'input':[{'role':'system','content':'s'},{'role':'developer',"
          "'content':[{'type':'input_text','text':'d'}]},{'role':'user','content':'a'},{'role':'ass"
          "istant','content':'b'},{'role':'system','content':'[Previous conversation summary]\\nx'}"
          ",{'role':'user','content':'c'}]}",
          "{'model':'m','stream':false,'messages':[{'role':'system','content':'s'},{'role':'system'"
          ",'content':'d'},{'role':'user','content':'a'},{'role':'assistant','content':'b'},{'role'"
          ":'system','content':'[Previous conversation summary]\\nx'},{'role':'user','content':'c'}"
          "]}",
          "{'systemInstruction':{'parts':[{'text':'s'},{'text':'d'}]},'contents':[{'role':'user','p"
          "arts':[{'text':'a'}]},{'role':'model','parts':[{'text':'b'}]},{'role':'user','parts':[{'"
          "text':'[Previous conversation summary]\\nx'},{'text':'c'}]}]}",
      } },
    { "Anthropic's calls, side by side, answered in the other order with words in between",
      "{'role':'user','content':'a'}\n{'role':'assistant','content':[{'type':'thinking','thinki"
      "ng':'t','signature':'s'},{'type':'text','text':'見ます'},{'type':'tool_use','id':'toolu_1',"
      "'name':'read','input':{'path':'a'}},{'type':'tool_use','id':'toolu_2','name':'read','inp"
      "ut':{'path':'b'}}]}\n{'role':'user','content':[{'type':'tool_result','tool_use_id':'tool"
      "u_2','content':'B'},{'type':'text','text':'and?'},{'type':'tool_result','tool_use_id':'t"
      "oolu_1','content':[{'type':'text','text':'A'},{'type':'image','source':{'type':'base64',"
      "'media_type':'image/png','data':'iVBORw0K'}}],'is_error':true}]}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'a'},{'role':'assist"
          "ant','content':[{'type':'thinking','thinking':'t','signature':'s'},{'type':'text','text'"
          ":'見ます'},{'type':'tool_use','id':'toolu_1','name':'read','input':{'path':'a'}},{'type':'t"
          "ool_use','id':'toolu_2','name':'read','input':{'path':'b'}}]},{'role':'user','content':["
          "{'type':'tool_result','tool_use_id':'toolu_1','content':[{'type':'text','text':'A'},{'ty"
          "pe':'image','source':{'type':'base64','media_type':'image/png','data':'iVBORw0K'}}],'is_"
          "error':true},{'type':'tool_result','tool_use_id':'toolu_2','content':'B'},{'type':'text'"
          ",'text':'and?'}]}]}",
          "{'model':'m','messages':[{'role':'user','content':'a'},{'role':'assistant','content':[{'"
          "type':'text','text':'見ます'}],'tool_calls':[{'id':'toolu_1','type':'function','function':{"
          "'name':'read','arguments':'{\\'path\\':\\'a\\'}'}},{'id':'toolu_2','type':'function','fu"
          "nction':{'name':'read','arguments':'{\\'path\\':\\'b\\'}'}}]},{'role':'tool','tool_call_"
          "id':'toolu_1','content':[{'type':'text','text':'A'},{'type':'text','text':'[image]'}]},{"
          "'role':'tool','tool_call_id':'toolu_2','content':'B'},{'role':'user','content':[{'type':"
          "'text','text':'and?'}]}]}",
          "{'model':'m','store':false,'input':[{'role':'user','content':'a'},{'role':'assistant','c"
          "ontent':[{'type':'output_text','text':'見ます'}]},{'type':'function_call','call_id':'toolu_"
          "1','name':'read','arguments':'{\\'path\\':\\'a\\'}'},{'type':'function_call','call_id':'"
          "toolu_2','name':'read','arguments':'{\\'path\\':\\'b\\'}'},{'type':'function_call_output"
          "','call_id':'toolu_1','output':[{'type':'input_text','text':'A'},{'type':'input_image','"
          "image_url':'data:image/png;base64,iVBORw0K'}]},{'type':'function_call_output','call_id':"
          "'toolu_2','output':'B'},{'role':'user','content':[{'type':'input_text','text':'and?'}]}]"
          "}",
          "{'model':'m','stream':false,'messages':[{'role':'user','content':'a'},{'role':'assistant"
          "','content':'見ます','tool_calls':[{'id':'toolu_1','function':{'name':'read','arguments':{'"
          "path':'a'}}},{'id':'toolu_2','function':{'name':'read','arguments':{'path':'b'}}}]},{'ro"
          "le':'tool','tool_name':'read','tool_call_id':'toolu_1','content':'A\\n[image]'},{'role':"
          "'tool','tool_name':'read','tool_call_id':'toolu_2','content':'B'},{'role':'user','conten"
          "t':'and?'}]}",
          "{'contents':[{'role':'user','parts':[{'text':'a'}]},{'role':'model','parts':[{'text':'見ま"
          "す'},{'functionCall':{'name':'read','args':{'path':'a'}}},{'functionCall':{'name':'read',"
          "'args':{'path':'b'}}}]},{'role':'user','parts':[{'functionResponse':{'name':'read','resp"
          "onse':{'error':'A\\n[image]'}}},{'functionResponse':{'name':'read','response':{'output':"
          "'B'}}},{'text':'and?'}]}]}",
      } },
    { "OpenAI's calls in separate rows are one turn",
      "{'role':'user','content':'a'}\n{'role':'assistant','content':null,'tool_calls':[{'id':'c"
      "1','type':'function','function':{'name':'f','arguments':'{\\'a\\':1}'}}]}\n{'role':'assi"
      "stant','content':'then','tool_calls':[{'id':'c2','type':'function','function':{'name':'g"
      "','arguments':'torn{'}}]}\n{'role':'tool','tool_call_id':'c1','content':'x'}\n{'role':'t"
      "ool','tool_call_id':'c2','content':'y'}\n{'role':'user','content':'next'}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'a'},{'role':'assist"
          "ant','content':[{'type':'tool_use','id':'c1','name':'f','input':{'a':1}},{'type':'text',"
          "'text':'then'},{'type':'tool_use','id':'c2','name':'g','input':{'arguments':'torn{'}}]},"
          "{'role':'user','content':[{'type':'tool_result','tool_use_id':'c1','content':'x'},{'type"
          "':'tool_result','tool_use_id':'c2','content':'y'},{'type':'text','text':'next'}]}]}",
          "{'model':'m','messages':[{'role':'user','content':'a'},{'role':'assistant','content':'th"
          "en','tool_calls':[{'id':'c1','type':'function','function':{'name':'f','arguments':'{\\'a"
          "\\':1}'}},{'id':'c2','type':'function','function':{'name':'g','arguments':'torn{'}}]},{'"
          "role':'tool','tool_call_id':'c1','content':'x'},{'role':'tool','tool_call_id':'c2','cont"
          "ent':'y'},{'role':'user','content':'next'}]}",
          "{'model':'m','store':false,'input':[{'role':'user','content':'a'},{'type':'function_call"
          "','call_id':'c1','name':'f','arguments':'{\\'a\\':1}'},{'role':'assistant','content':'th"
          "en'},{'type':'function_call','call_id':'c2','name':'g','arguments':'torn{'},{'type':'fun"
          "ction_call_output','call_id':'c1','output':'x'},{'type':'function_call_output','call_id'"
          ":'c2','output':'y'},{'role':'user','content':'next'}]}",
          "{'model':'m','stream':false,'messages':[{'role':'user','content':'a'},{'role':'assistant"
          "','content':'then','tool_calls':[{'id':'c1','function':{'name':'f','arguments':{'a':1}}}"
          ",{'id':'c2','function':{'name':'g','arguments':{'arguments':'torn{'}}}]},{'role':'tool',"
          "'tool_name':'f','tool_call_id':'c1','content':'x'},{'role':'tool','tool_name':'g','tool_"
          "call_id':'c2','content':'y'},{'role':'user','content':'next'}]}",
          "{'contents':[{'role':'user','parts':[{'text':'a'}]},{'role':'model','parts':[{'functionC"
          "all':{'name':'f','args':{'a':1}}},{'text':'then'},{'functionCall':{'name':'g','args':{'a"
          "rguments':'torn{'}}}]},{'role':'user','parts':[{'functionResponse':{'name':'f','response"
          "':{'output':'x'}}},{'functionResponse':{'name':'g','response':{'output':'y'}}},{'text':'"
          "next'}]}]}",
      } },
    { "a result that comes late, one that comes twice, one that answers nothing",
      "{'role':'user','content':'a'}\n{'role':'assistant','content':[{'type':'tool_use','id':'t"
      "1','name':'f','input':{}}]}\n{'role':'user','content':'wait'}\n{'role':'assistant','cont"
      "ent':'ok'}\n{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1','content'"
      ":'r'}]}\n{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1','content':'a"
      "gain'}]}\n{'role':'user','content':[{'type':'tool_result','tool_use_id':'t9','content':'"
      "lost'}]}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'a'},{'role':'assist"
          "ant','content':[{'type':'tool_use','id':'t1','name':'f','input':{}}]},{'role':'user','co"
          "ntent':[{'type':'tool_result','tool_use_id':'t1','content':'r'},{'type':'text','text':'w"
          "ait'}]},{'role':'assistant','content':'ok'},{'role':'user','content':'lost'}]}",
          "{'model':'m','messages':[{'role':'user','content':'a'},{'role':'assistant','content':nul"
          "l,'tool_calls':[{'id':'t1','type':'function','function':{'name':'f','arguments':'{}'}}]}"
          ",{'role':'tool','tool_call_id':'t1','content':'r'},{'role':'user','content':'wait'},{'ro"
          "le':'assistant','content':'ok'},{'role':'user','content':'lost'}]}",
          "{'model':'m','store':false,'input':[{'role':'user','content':'a'},{'type':'function_call"
          "','call_id':'t1','name':'f','arguments':'{}'},{'type':'function_call_output','call_id':'"
          "t1','output':'r'},{'role':'user','content':'wait'},{'role':'assistant','content':'ok'},{"
          "'role':'user','content':'lost'}]}",
          "{'model':'m','stream':false,'messages':[{'role':'user','content':'a'},{'role':'assistant"
          "','content':'','tool_calls':[{'id':'t1','function':{'name':'f','arguments':{}}}]},{'role"
          "':'tool','tool_name':'f','tool_call_id':'t1','content':'r'},{'role':'user','content':'wa"
          "it'},{'role':'assistant','content':'ok'},{'role':'user','content':'lost'}]}",
          "{'contents':[{'role':'user','parts':[{'text':'a'}]},{'role':'model','parts':[{'functionC"
          "all':{'name':'f','args':{}}}]},{'role':'user','parts':[{'functionResponse':{'name':'f','"
          "response':{'output':'r'}}},{'text':'wait'}]},{'role':'model','parts':[{'text':'ok'}]},{'"
          "role':'user','parts':[{'text':'lost'}]}]}",
      } },
    { "calls without results, in the middle and at the end",
      "{'role':'user','content':'a'}\n{'role':'assistant','content':[{'type':'tool_use','id':'t"
      "1','name':'f','input':{}},{'type':'tool_use','id':'t2','name':'f','input':{}}]}\n{'role'"
      ":'user','content':[{'type':'tool_result','tool_use_id':'t2','content':'r'}]}\n{'role':'u"
      "ser','content':'b'}\n{'role':'assistant','content':null,'tool_calls':[{'id':'c1','type':"
      "'function','function':{'name':'g','arguments':''}}]}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'a'},{'role':'assist"
          "ant','content':[{'type':'tool_use','id':'t1','name':'f','input':{}},{'type':'tool_use','"
          "id':'t2','name':'f','input':{}}]},{'role':'user','content':[{'type':'tool_result','tool_"
          "use_id':'t1','content':'[No result: the call was interrupted]'},{'type':'tool_result','t"
          "ool_use_id':'t2','content':'r'},{'type':'text','text':'b'}]},{'role':'assistant','conten"
          "t':[{'type':'tool_use','id':'c1','name':'g','input':{}}]},{'role':'user','content':[{'ty"
          "pe':'tool_result','tool_use_id':'c1','content':'[No result: the call was interrupted]'}]"
          "}]}",
          "{'model':'m','messages':[{'role':'user','content':'a'},{'role':'assistant','content':nul"
          "l,'tool_calls':[{'id':'t1','type':'function','function':{'name':'f','arguments':'{}'}},{"
          "'id':'t2','type':'function','function':{'name':'f','arguments':'{}'}}]},{'role':'tool','"
          "tool_call_id':'t1','content':'[No result: the call was interrupted]'},{'role':'tool','to"
          "ol_call_id':'t2','content':'r'},{'role':'user','content':'b'},{'role':'assistant','conte"
          "nt':null,'tool_calls':[{'id':'c1','type':'function','function':{'name':'g','arguments':'"
          "{}'}}]},{'role':'tool','tool_call_id':'c1','content':'[No result: the call was interrupt"
          "ed]'}]}",
          "{'model':'m','store':false,'input':[{'role':'user','content':'a'},{'type':'function_call"
          "','call_id':'t1','name':'f','arguments':'{}'},{'type':'function_call','call_id':'t2','na"
          "me':'f','arguments':'{}'},{'type':'function_call_output','call_id':'t1','output':'[No re"
          "sult: the call was interrupted]'},{'type':'function_call_output','call_id':'t2','output'"
          ":'r'},{'role':'user','content':'b'},{'type':'function_call','call_id':'c1','name':'g','a"
          "rguments':'{}'},{'type':'function_call_output','call_id':'c1','output':'[No result: the "
          "call was interrupted]'}]}",
          "{'model':'m','stream':false,'messages':[{'role':'user','content':'a'},{'role':'assistant"
          "','content':'','tool_calls':[{'id':'t1','function':{'name':'f','arguments':{}}},{'id':'t"
          "2','function':{'name':'f','arguments':{}}}]},{'role':'tool','tool_name':'f','tool_call_i"
          "d':'t1','content':'[No result: the call was interrupted]'},{'role':'tool','tool_name':'f"
          "','tool_call_id':'t2','content':'r'},{'role':'user','content':'b'},{'role':'assistant','"
          "content':'','tool_calls':[{'id':'c1','function':{'name':'g','arguments':{}}}]},{'role':'"
          "tool','tool_name':'g','tool_call_id':'c1','content':'[No result: the call was interrupte"
          "d]'}]}",
          "{'contents':[{'role':'user','parts':[{'text':'a'}]},{'role':'model','parts':[{'functionC"
          "all':{'name':'f','args':{}}},{'functionCall':{'name':'f','args':{}}}]},{'role':'user','p"
          "arts':[{'functionResponse':{'name':'f','response':{'output':'[No result: the call was in"
          "terrupted]'}}},{'functionResponse':{'name':'f','response':{'output':'r'}}},{'text':'b'}]"
          "},{'role':'model','parts':[{'functionCall':{'name':'g','args':{}}}]},{'role':'user','par"
          "ts':[{'functionResponse':{'name':'g','response':{'output':'[No result: the call was inte"
          "rrupted]'}}}]}]}",
      } },
    { "images and files from each shape",
      "{'role':'user','content':[{'type':'text','text':'see'},{'type':'image','source':{'type':"
      "'base64','media_type':'image/png','data':'iVBORw0K'}},{'type':'image_url','image_url':{'"
      "url':'data:image/gif;base64,R0lG','detail':'low'}},{'type':'image_url','image_url':{'url"
      "':'https://x/y.png'}}]}\n{'role':'assistant','content':'ok'}\n{'role':'user','content':'"
      "from Ollama','images':['/9j/4AAQ']}\n{'role':'assistant','content':'ok'}\n{'role':'user'"
      ",'content':[{'type':'document','source':{'type':'base64','media_type':'application/pdf',"
      "'data':'JVBE'}},{'type':'document','source':{'type':'text','media_type':'text/plain','da"
      "ta':'words'}}]}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':[{'type':'text','tex"
          "t':'see'},{'type':'image','source':{'type':'base64','media_type':'image/png','data':'iVB"
          "ORw0K'}},{'type':'image','source':{'type':'base64','media_type':'image/gif','data':'R0lG"
          "'}},{'type':'image','source':{'type':'url','url':'https://x/y.png'}}]},{'role':'assistan"
          "t','content':'ok'},{'role':'user','content':[{'type':'text','text':'from Ollama'},{'type"
          "':'image','source':{'type':'base64','media_type':'image/jpeg','data':'/9j/4AAQ'}}]},{'ro"
          "le':'assistant','content':'ok'},{'role':'user','content':[{'type':'document','source':{'"
          "type':'base64','media_type':'application/pdf','data':'JVBE'}},{'type':'document','source"
          "':{'type':'text','media_type':'text/plain','data':'words'}}]}]}",
          "{'model':'m','messages':[{'role':'user','content':[{'type':'text','text':'see'},{'type':"
          "'image_url','image_url':{'url':'data:image/png;base64,iVBORw0K'}},{'type':'image_url','i"
          "mage_url':{'url':'data:image/gif;base64,R0lG','detail':'low'}},{'type':'image_url','imag"
          "e_url':{'url':'https://x/y.png'}}]},{'role':'assistant','content':'ok'},{'role':'user','"
          "content':[{'type':'text','text':'from Ollama'},{'type':'image_url','image_url':{'url':'d"
          "ata:image/jpeg;base64,/9j/4AAQ'}}]},{'role':'assistant','content':'ok'},{'role':'user','"
          "content':[{'type':'file','file':{'filename':'document.pdf','file_data':'data:application"
          "/pdf;base64,JVBE'}},{'type':'text','text':'words'}]}]}",
          "{'model':'m','store':false,'input':[{'role':'user','content':[{'type':'input_text','text"
          "':'see'},{'type':'input_image','image_url':'data:image/png;base64,iVBORw0K'},{'type':'in"
          "put_image','image_url':'data:image/gif;base64,R0lG','detail':'low'},{'type':'input_image"
          "','image_url':'https://x/y.png'}]},{'role':'assistant','content':'ok'},{'role':'user','c"
          "ontent':[{'type':'input_text','text':'from Ollama'},{'type':'input_image','image_url':'d"
          "ata:image/jpeg;base64,/9j/4AAQ'}]},{'role':'assistant','content':'ok'},{'role':'user','c"
          "ontent':[{'type':'input_file','filename':'document.pdf','file_data':'data:application/pd"
          "f;base64,JVBE'},{'type':'input_text','text':'words'}]}]}",
          "{'model':'m','stream':false,'messages':[{'role':'user','content':'see\\n[image]','images"
          "':['iVBORw0K','R0lG']},{'role':'assistant','content':'ok'},{'role':'user','content':'fro"
          "m Ollama','images':['/9j/4AAQ']},{'role':'assistant','content':'ok'},{'role':'user','con"
          "tent':'[file]\\nwords'}]}",
          "{'contents':[{'role':'user','parts':[{'text':'see'},{'inlineData':{'mimeType':'image/png"
          "','data':'iVBORw0K'}},{'inlineData':{'mimeType':'image/gif','data':'R0lG'}},{'fileData':"
          "{'fileUri':'https://x/y.png'}}]},{'role':'model','parts':[{'text':'ok'}]},{'role':'user'"
          ",'parts':[{'text':'from Ollama'},{'inlineData':{'mimeType':'image/jpeg','data':'/9j/4AAQ"
          "'}}]},{'role':'model','parts':[{'text':'ok'}]},{'role':'user','parts':[{'inlineData':{'m"
          "imeType':'application/pdf','data':'JVBE'}},{'text':'words'}]}]}",
      } },
    { "Gemini's parts go back as they came, and elsewhere without what only it knows",
      "{'role':'user','content':[{'type':'text','text':'a'}]}\n{'role':'assistant','content':[{"
      "'type':'thinking','thinking':'hm','original':{'thoughtSignature':'c2ln'}},{'type':'tool_"
      "use','id':'call_f_0','name':'f','input':{'x':1},'original':{'functionCall':{'id':'z1'},'"
      "thoughtSignature':'t'}},{'type':'tool_use','id':'call_f_1','name':'f','input':{'x':2}}]}"
      "\n{'role':'user','content':[{'type':'tool_result','tool_use_id':'call_f_0','content':'r'"
      ",'original':{'functionResponse':{'id':'z1','name':'f','response':{'result':null}}}},{'ty"
      "pe':'tool_result','tool_use_id':'call_f_1','content':'{\\'k\\':[1]}','original':{'functi"
      "onResponse':{'name':'f'}}}]}\n{'role':'assistant','content':[{'executableCode':{'code':'"
      "1'}}]}\n{'role':'user','content':'b'}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':[{'type':'text','tex"
          "t':'a'}]},{'role':'assistant','content':[{'type':'tool_use','id':'call_f_0_1','name':'f'"
          ",'input':{'x':1}},{'type':'tool_use','id':'call_f_1_1','name':'f','input':{'x':2}}]},{'r"
          "ole':'user','content':[{'type':'tool_result','tool_use_id':'call_f_0_1','content':'r'},{"
          "'type':'tool_result','tool_use_id':'call_f_1_1','content':'{\\'k\\':[1]}'},{'type':'text"
          "','text':'b'}]}]}",
          "{'model':'m','messages':[{'role':'user','content':[{'type':'text','text':'a'}]},{'role':"
          "'assistant','content':null,'tool_calls':[{'id':'call_f_0','type':'function','function':{"
          "'name':'f','arguments':'{\\'x\\':1}'}},{'id':'call_f_1','type':'function','function':{'n"
          "ame':'f','arguments':'{\\'x\\':2}'}}]},{'role':'tool','tool_call_id':'call_f_0','content"
          "':'r'},{'role':'tool','tool_call_id':'call_f_1','content':'{\\'k\\':[1]}'},{'role':'user"
          "','content':'b'}]}",
          "{'model':'m','store':false,'input':[{'role':'user','content':[{'type':'input_text','text"
          "':'a'}]},{'type':'function_call','call_id':'call_f_0_1','name':'f','arguments':'{\\'x\\'"
          ":1}'},{'type':'function_call','call_id':'call_f_1_1','name':'f','arguments':'{\\'x\\':2}"
          "'},{'type':'function_call_output','call_id':'call_f_0_1','output':'r'},{'type':'function"
          "_call_output','call_id':'call_f_1_1','output':'{\\'k\\':[1]}'},{'role':'user','content':"
          "'b'}]}",
          "{'model':'m','stream':false,'messages':[{'role':'user','content':'a'},{'role':'assistant"
          "','content':'','tool_calls':[{'id':'call_f_0','function':{'name':'f','arguments':{'x':1}"
          "}},{'id':'call_f_1','function':{'name':'f','arguments':{'x':2}}}]},{'role':'tool','tool_"
          "name':'f','tool_call_id':'call_f_0','content':'r'},{'role':'tool','tool_name':'f','tool_"
          "call_id':'call_f_1','content':'{\\'k\\':[1]}'},{'role':'user','content':'b'}]}",
          "{'contents':[{'role':'user','parts':[{'text':'a'}]},{'role':'model','parts':[{'thought':"
          "true,'text':'hm','thoughtSignature':'c2ln'},{'functionCall':{'name':'f','args':{'x':1},'"
          "id':'z1'},'thoughtSignature':'t'},{'functionCall':{'name':'f','args':{'x':2}}}]},{'role'"
          ":'user','parts':[{'functionResponse':{'name':'f','response':{'result':'r'},'id':'z1'}},{"
          "'functionResponse':{'name':'f','response':{'k':[1]}}}]},{'role':'model','parts':[{'execu"
          "tableCode':{'code':'1'}}]},{'role':'user','parts':[{'text':'b'}]}]}",
      } },
    { "items of Responses go back as they came, but for their ids",
      "{'role':'user','content':'a'}\n{'role':'assistant','content':[{'type':'reasoning','id':'"
      "rs1','summary':[],'encrypted_content':'e'},{'type':'text','text':'t'}],'original':{'type"
      "':'message','id':'m1','status':'completed'}}\n{'role':'assistant','content':[{'type':'re"
      "asoning','id':'rs2','summary':[]}],'tool_calls':[{'id':'c1','type':'function','function'"
      ":{'name':'f','arguments':'{}'}}],'original':{'type':'function_call','id':'fc1','status':"
      "'completed'}}\n{'role':'tool','tool_call_id':'c1','content':'r','original':{'type':'func"
      "tion_call_output','id':'o1'}}\n{'role':'assistant','content':null,'tool_calls':[{'id':'c"
      "2','type':'function','function':{'name':'patch','arguments':'*** Begin'}}],'original':{'"
      "type':'custom_tool_call','id':'x'}}\n{'role':'tool','tool_call_id':'c2','content':[{'typ"
      "e':'text','text':'done'},{'type':'image_url','image_url':{'url':'https://x/y.png'}}]}\n{"
      "'role':'user','content':'b'}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'a'},{'role':'assist"
          "ant','content':[{'type':'text','text':'t'},{'type':'tool_use','id':'c1','name':'f','inpu"
          "t':{}}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'c1','content':'r"
          "'}]},{'role':'assistant','content':[{'type':'tool_use','id':'c2','name':'patch','input':"
          "{'arguments':'*** Begin'}}]},{'role':'user','content':[{'type':'tool_result','tool_use_i"
          "d':'c2','content':[{'type':'text','text':'done'},{'type':'image','source':{'type':'url',"
          "'url':'https://x/y.png'}}]},{'type':'text','text':'b'}]}]}",
          "{'model':'m','messages':[{'role':'user','content':'a'},{'role':'assistant','content':[{'"
          "type':'text','text':'t'}]},{'role':'assistant','content':null,'tool_calls':[{'id':'c1','"
          "type':'function','function':{'name':'f','arguments':'{}'}}]},{'role':'tool','tool_call_i"
          "d':'c1','content':'r'},{'role':'assistant','content':null,'tool_calls':[{'id':'c2','type"
          "':'function','function':{'name':'patch','arguments':'*** Begin'}}]},{'role':'tool','tool"
          "_call_id':'c2','content':[{'type':'text','text':'done'},{'type':'text','text':'[image]'}"
          "]},{'role':'user','content':'b'}]}",
          "{'model':'m','store':false,'input':[{'role':'user','content':'a'},{'type':'reasoning','i"
          "d':'rs1','summary':[],'encrypted_content':'e'},{'type':'message','status':'completed','r"
          "ole':'assistant','content':[{'type':'output_text','text':'t'}]},{'type':'function_call',"
          "'call_id':'c1','name':'f','arguments':'{}','status':'completed'},{'type':'function_call_"
          "output','call_id':'c1','output':'r'},{'type':'custom_tool_call','call_id':'c2','name':'p"
          "atch','input':'*** Begin'},{'type':'custom_tool_call_output','call_id':'c2','output':[{'"
          "type':'input_text','text':'done'},{'type':'input_image','image_url':'https://x/y.png'}]}"
          ",{'role':'user','content':'b'}]}",
          "{'model':'m','stream':false,'messages':[{'role':'user','content':'a'},{'role':'assistant"
          "','content':'t'},{'role':'assistant','content':'','tool_calls':[{'id':'c1','function':{'"
          "name':'f','arguments':{}}}]},{'role':'tool','tool_name':'f','tool_call_id':'c1','content"
          "':'r'},{'role':'assistant','content':'','tool_calls':[{'id':'c2','function':{'name':'pat"
          "ch','arguments':{'arguments':'*** Begin'}}}]},{'role':'tool','tool_name':'patch','tool_c"
          "all_id':'c2','content':'done\\n[image]'},{'role':'user','content':'b'}]}",
          "{'contents':[{'role':'user','parts':[{'text':'a'}]},{'role':'model','parts':[{'text':'t'"
          "},{'functionCall':{'name':'f','args':{}}}]},{'role':'user','parts':[{'functionResponse':"
          "{'name':'f','response':{'output':'r'}}}]},{'role':'model','parts':[{'functionCall':{'nam"
          "e':'patch','args':{'arguments':'*** Begin'}}}]},{'role':'user','parts':[{'functionRespon"
          "se':{'name':'patch','response':{'output':'done\\n[image]'}}},{'text':'b'}]}]}",
      } },
    { "Ollama's calls and thoughts",
      "{'role':'user','content':'a'}\n{'role':'assistant','content':'','thinking':'hm','tool_ca"
      "lls':[{'id':'call_f_0','function':{'name':'f','arguments':{'a':'日'}}}]}\n{'role':'tool',"
      "'tool_name':'f','content':'r','tool_call_id':'call_f_0'}\n{'role':'user','content':'b'}\n"
      "{'role':'assistant','content':'','tool_calls':[{'id':'call_f_0','function':{'name':'f','"
      "arguments':{}}}]}\n{'role':'tool','tool_name':'f','content':'r2','tool_call_id':'call_f_"
      "0'}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'a'},{'role':'assist"
          "ant','content':[{'type':'tool_use','id':'call_f_0_1','name':'f','input':{'a':'日'}}]},{'r"
          "ole':'user','content':[{'type':'tool_result','tool_use_id':'call_f_0_1','content':'r'},{"
          "'type':'text','text':'b'}]},{'role':'assistant','content':[{'type':'tool_use','id':'call"
          "_f_0_2','name':'f','input':{}}]},{'role':'user','content':[{'type':'tool_result','tool_u"
          "se_id':'call_f_0_2','content':'r2'}]}]}",
          "{'model':'m','messages':[{'role':'user','content':'a'},{'role':'assistant','content':nul"
          "l,'tool_calls':[{'id':'call_f_0','type':'function','function':{'name':'f','arguments':'{"
          "\\'a\\':\\'日\\'}'}}]},{'role':'tool','tool_call_id':'call_f_0','content':'r'},{'role':'u"
          "ser','content':'b'},{'role':'assistant','content':null,'tool_calls':[{'id':'call_f_0','t"
          "ype':'function','function':{'name':'f','arguments':'{}'}}]},{'role':'tool','tool_call_id"
          "':'call_f_0','content':'r2'}]}",
          "{'model':'m','store':false,'input':[{'role':'user','content':'a'},{'type':'function_call"
          "','call_id':'call_f_0_1','name':'f','arguments':'{\\'a\\':\\'日\\'}'},{'type':'function_c"
          "all_output','call_id':'call_f_0_1','output':'r'},{'role':'user','content':'b'},{'type':'"
          "function_call','call_id':'call_f_0_2','name':'f','arguments':'{}'},{'type':'function_cal"
          "l_output','call_id':'call_f_0_2','output':'r2'}]}",
          "{'model':'m','stream':false,'messages':[{'role':'user','content':'a'},{'role':'assistant"
          "','content':'','thinking':'hm','tool_calls':[{'id':'call_f_0','function':{'name':'f','ar"
          "guments':{'a':'日'}}}]},{'role':'tool','tool_name':'f','tool_call_id':'call_f_0','content"
          "':'r'},{'role':'user','content':'b'},{'role':'assistant','content':'','tool_calls':[{'id"
          "':'call_f_0','function':{'name':'f','arguments':{}}}]},{'role':'tool','tool_name':'f','t"
          "ool_call_id':'call_f_0','content':'r2'}]}",
          "{'contents':[{'role':'user','parts':[{'text':'a'}]},{'role':'model','parts':[{'functionC"
          "all':{'name':'f','args':{'a':'日'}}}]},{'role':'user','parts':[{'functionResponse':{'name"
          "':'f','response':{'output':'r'}}},{'text':'b'}]},{'role':'model','parts':[{'functionCall"
          "':{'name':'f','args':{}}}]},{'role':'user','parts':[{'functionResponse':{'name':'f','res"
          "ponse':{'output':'r2'}}}]}]}",
      } },
    { "the older form of OpenAI's calls",
      "{'role':'user','content':'a'}\n{'role':'assistant','content':null,'function_call':{'name"
      "':'f','arguments':'{\\'a\\':1}'}}\n{'role':'function','name':'f','content':'r'}\n{'role'"
      ":'user','content':'b','name':'Yuki'}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'a'},{'role':'assist"
          "ant','content':[{'type':'tool_use','id':'call_f_0_1','name':'f','input':{'a':1}}]},{'rol"
          "e':'user','content':[{'type':'tool_result','tool_use_id':'call_f_0_1','content':'r'},{'t"
          "ype':'text','text':'b'}]}]}",
          "{'model':'m','messages':[{'role':'user','content':'a'},{'role':'assistant','content':nul"
          "l,'tool_calls':[{'id':'call_f_0','type':'function','function':{'name':'f','arguments':'{"
          "\\'a\\':1}'}}]},{'role':'tool','tool_call_id':'call_f_0','content':'r'},{'role':'user','"
          "content':'b','name':'Yuki'}]}",
          "{'model':'m','store':false,'input':[{'role':'user','content':'a'},{'type':'function_call"
          "','call_id':'call_f_0_1','name':'f','arguments':'{\\'a\\':1}'},{'type':'function_call_ou"
          "tput','call_id':'call_f_0_1','output':'r'},{'role':'user','content':'b'}]}",
          "{'model':'m','stream':false,'messages':[{'role':'user','content':'a'},{'role':'assistant"
          "','content':'','tool_calls':[{'id':'call_f_0','function':{'name':'f','arguments':{'a':1}"
          "}}]},{'role':'tool','tool_name':'f','tool_call_id':'call_f_0','content':'r'},{'role':'us"
          "er','content':'b'}]}",
          "{'contents':[{'role':'user','parts':[{'text':'a'}]},{'role':'model','parts':[{'functionC"
          "all':{'name':'f','args':{'a':1}}}]},{'role':'user','parts':[{'functionResponse':{'name':"
          "'f','response':{'output':'r'}}},{'text':'b'}]}]}",
      } },
    { "a summary first, then a marker: the first message is the user's where it has to be",
      "{'role':'assistant','content':[{'type':'reasoning','text':'Condensing conversation conte"
      "xt.'},{'type':'text','text':'要約'},{'type':'tool_use','id':'t1','name':'f','input':{}}],'"
      "isSummary':true,'condenseId':'C'}\n{'role':'user','content':[{'type':'tool_result','tool"
      "_use_id':'t1','content':'r'}]}\n{'role':'user','content':'[Truncation: 2 messages hidden"
      "]','isTruncationMarker':true}\n{'role':'assistant','content':'   '}\n{'role':'assistant'"
      ",'content':[{'type':'text','text':''}]}\n{'role':'user','content':'b'}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'[The conversation g"
          "oes on from here]'},{'role':'assistant','content':[{'type':'text','text':'要約'},{'type':'"
          "tool_use','id':'t1','name':'f','input':{}}]},{'role':'user','content':[{'type':'tool_res"
          "ult','tool_use_id':'t1','content':'r'},{'type':'text','text':'[Truncation: 2 messages hi"
          "dden]'},{'type':'text','text':'b'}]}]}",
          "{'model':'m','messages':[{'role':'assistant','content':[{'type':'text','text':'要約'}],'to"
          "ol_calls':[{'id':'t1','type':'function','function':{'name':'f','arguments':'{}'}}]},{'ro"
          "le':'tool','tool_call_id':'t1','content':'r'},{'role':'user','content':'[Truncation: 2 m"
          "essages hidden]'},{'role':'user','content':'b'}]}",
          "{'model':'m','store':false,'input':[{'role':'assistant','content':[{'type':'output_text'"
          ",'text':'要約'}]},{'type':'function_call','call_id':'t1','name':'f','arguments':'{}'},{'ty"
          "pe':'function_call_output','call_id':'t1','output':'r'},{'role':'user','content':'[Trunc"
          "ation: 2 messages hidden]'},{'role':'user','content':'b'}]}",
          "{'model':'m','stream':false,'messages':[{'role':'assistant','content':'要約','tool_calls':"
          "[{'id':'t1','function':{'name':'f','arguments':{}}}]},{'role':'tool','tool_name':'f','to"
          "ol_call_id':'t1','content':'r'},{'role':'user','content':'[Truncation: 2 messages hidden"
          "]'},{'role':'user','content':'b'}]}",
          "{'contents':[{'role':'user','parts':[{'text':'[The conversation goes on from here]'}]},{"
          "'role':'model','parts':[{'text':'要約'},{'functionCall':{'name':'f','args':{}}}]},{'role':"
          "'user','parts':[{'functionResponse':{'name':'f','response':{'output':'r'}}},{'text':'[Tr"
          "uncation: 2 messages hidden]'},{'text':'b'}]}]}",
      } },
    { "reasoning: fields as they came, blocks left out",
      "{'role':'user','content':'a'}\n{'role':'assistant','content':[{'type':'reasoning','text'"
      ":'r'},{'type':'text','text':'t'}]}\n{'role':'user','content':'b'}\n{'role':'assistant','"
      "content':'u','reasoning_content':'why'}\n{'role':'user','content':'c'}\n{'role':'assista"
      "nt','content':null,'reasoning_content':'call','tool_calls':[{'id':'c1','type':'function'"
      ",'function':{'name':'f','arguments':'{}'}}]}\n{'role':'tool','tool_call_id':'c1','conten"
      "t':'r'}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'a'},{'role':'assist"
          "ant','content':[{'type':'text','text':'t'}]},{'role':'user','content':'b'},{'role':'assi"
          "stant','content':'u'},{'role':'user','content':'c'},{'role':'assistant','content':[{'typ"
          "e':'tool_use','id':'c1','name':'f','input':{}}]},{'role':'user','content':[{'type':'tool"
          "_result','tool_use_id':'c1','content':'r'}]}]}",
          "{'model':'m','messages':[{'role':'user','content':'a'},{'role':'assistant','content':[{'"
          "type':'text','text':'t'}]},{'role':'user','content':'b'},{'role':'assistant','content':'"
          "u','reasoning_content':'why'},{'role':'user','content':'c'},{'role':'assistant','content"
          "':null,'reasoning_content':'call','tool_calls':[{'id':'c1','type':'function','function':"
          "{'name':'f','arguments':'{}'}}]},{'role':'tool','tool_call_id':'c1','content':'r'}]}",
          "{'model':'m','store':false,'input':[{'role':'user','content':'a'},{'role':'assistant','c"
          "ontent':[{'type':'output_text','text':'t'}]},{'role':'user','content':'b'},{'role':'assi"
          "stant','content':'u'},{'role':'user','content':'c'},{'type':'function_call','call_id':'c"
          "1','name':'f','arguments':'{}'},{'type':'function_call_output','call_id':'c1','output':'"
          "r'}]}",
          "{'model':'m','stream':false,'messages':[{'role':'user','content':'a'},{'role':'assistant"
          "','content':'t'},{'role':'user','content':'b'},{'role':'assistant','content':'u'},{'role"
          "':'user','content':'c'},{'role':'assistant','content':'','tool_calls':[{'id':'c1','funct"
          "ion':{'name':'f','arguments':{}}}]},{'role':'tool','tool_name':'f','tool_call_id':'c1','"
          "content':'r'}]}",
          "{'contents':[{'role':'user','parts':[{'text':'a'}]},{'role':'model','parts':[{'text':'t'"
          "}]},{'role':'user','parts':[{'text':'b'}]},{'role':'model','parts':[{'text':'u'}]},{'rol"
          "e':'user','parts':[{'text':'c'}]},{'role':'model','parts':[{'functionCall':{'name':'f','"
          "args':{}}}]},{'role':'user','parts':[{'functionResponse':{'name':'f','response':{'output"
          "':'r'}}}]}]}",
      } },
    { "ids that are refused elsewhere",
      "{'role':'user','content':'a'}\n{'role':'assistant','content':null,'tool_calls':[{'id':'f"
      "unctions.read:0','type':'function','function':{'name':'read','arguments':'{}'}}]}\n{'rol"
      "e':'tool','tool_call_id':'functions.read:0','content':'r'}\n{'role':'assistant','content"
      "':[{'type':'tool_use','id':'call_a_name_that_is_longer_than_forty_characters_0','name':'"
      "a_name_that_is_longer_than_forty_characters','input':{}}]}\n{'role':'user','content':[{'"
      "type':'tool_result','tool_use_id':'call_a_name_that_is_longer_than_forty_characters_0','"
      "content':'r'}]}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'a'},{'role':'assist"
          "ant','content':[{'type':'tool_use','id':'functions_read_0','name':'read','input':{}}]},{"
          "'role':'user','content':[{'type':'tool_result','tool_use_id':'functions_read_0','content"
          "':'r'}]},{'role':'assistant','content':[{'type':'tool_use','id':'call_a_name_that_is_lon"
          "ger_than_forty_characters_0_2','name':'a_name_that_is_longer_than_forty_characters','inp"
          "ut':{}}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'call_a_name_tha"
          "t_is_longer_than_forty_characters_0_2','content':'r'}]}]}",
          "{'model':'m','messages':[{'role':'user','content':'a'},{'role':'assistant','content':nul"
          "l,'tool_calls':[{'id':'functions.read:0','type':'function','function':{'name':'read','ar"
          "guments':'{}'}}]},{'role':'tool','tool_call_id':'functions.read:0','content':'r'},{'role"
          "':'assistant','content':null,'tool_calls':[{'id':'call_3aeab9dd0a253bcf','type':'functio"
          "n','function':{'name':'a_name_that_is_longer_than_forty_characters','arguments':'{}'}}]}"
          ",{'role':'tool','tool_call_id':'call_3aeab9dd0a253bcf','content':'r'}]}",
          "{'model':'m','store':false,'input':[{'role':'user','content':'a'},{'type':'function_call"
          "','call_id':'functions.read:0','name':'read','arguments':'{}'},{'type':'function_call_ou"
          "tput','call_id':'functions.read:0','output':'r'},{'type':'function_call','call_id':'call"
          "_a_name_that_is_longer_than_forty_characters_0_2','name':'a_name_that_is_longer_than_for"
          "ty_characters','arguments':'{}'},{'type':'function_call_output','call_id':'call_a_name_t"
          "hat_is_longer_than_forty_characters_0_2','output':'r'}]}",
          "{'model':'m','stream':false,'messages':[{'role':'user','content':'a'},{'role':'assistant"
          "','content':'','tool_calls':[{'id':'functions.read:0','function':{'name':'read','argumen"
          "ts':{}}}]},{'role':'tool','tool_name':'read','tool_call_id':'functions.read:0','content'"
          ":'r'},{'role':'assistant','content':'','tool_calls':[{'id':'call_a_name_that_is_longer_t"
          "han_forty_characters_0','function':{'name':'a_name_that_is_longer_than_forty_characters'"
          ",'arguments':{}}}]},{'role':'tool','tool_name':'a_name_that_is_longer_than_forty_charact"
          "ers','tool_call_id':'call_a_name_that_is_longer_than_forty_characters_0','content':'r'}]"
          "}",
          "{'contents':[{'role':'user','parts':[{'text':'a'}]},{'role':'model','parts':[{'functionC"
          "all':{'name':'read','args':{}}}]},{'role':'user','parts':[{'functionResponse':{'name':'r"
          "ead','response':{'output':'r'}}}]},{'role':'model','parts':[{'functionCall':{'name':'a_n"
          "ame_that_is_longer_than_forty_characters','args':{}}}]},{'role':'user','parts':[{'functi"
          "onResponse':{'name':'a_name_that_is_longer_than_forty_characters','response':{'output':'"
          "r'}}}]}]}",
      } },
    { "cache control stays where it is",
      "{'role':'user','content':[{'type':'text','text':'a','cache_control':{'type':'ephemeral'}"
      "}]}\n{'role':'assistant','content':[{'type':'tool_use','id':'t1','name':'f','input':{}}]"
      "}\n{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1','content':'r','cac"
      "he_control':{'type':'ephemeral'}}]}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':[{'type':'text','tex"
          "t':'a','cache_control':{'type':'ephemeral'}}]},{'role':'assistant','content':[{'type':'t"
          "ool_use','id':'t1','name':'f','input':{}}]},{'role':'user','content':[{'type':'tool_resu"
          "lt','tool_use_id':'t1','content':'r','cache_control':{'type':'ephemeral'}}]}]}",
          "{'model':'m','messages':[{'role':'user','content':[{'type':'text','text':'a','cache_cont"
          "rol':{'type':'ephemeral'}}]},{'role':'assistant','content':null,'tool_calls':[{'id':'t1'"
          ",'type':'function','function':{'name':'f','arguments':'{}'}}]},{'role':'tool','tool_call"
          "_id':'t1','content':'r'}]}",
          "{'model':'m','store':false,'input':[{'role':'user','content':[{'type':'input_text','text"
          "':'a'}]},{'type':'function_call','call_id':'t1','name':'f','arguments':'{}'},{'type':'fu"
          "nction_call_output','call_id':'t1','output':'r'}]}",
          "{'model':'m','stream':false,'messages':[{'role':'user','content':'a'},{'role':'assistant"
          "','content':'','tool_calls':[{'id':'t1','function':{'name':'f','arguments':{}}}]},{'role"
          "':'tool','tool_name':'f','tool_call_id':'t1','content':'r'}]}",
          "{'contents':[{'role':'user','parts':[{'text':'a'}]},{'role':'model','parts':[{'functionC"
          "all':{'name':'f','args':{}}}]},{'role':'user','parts':[{'functionResponse':{'name':'f','"
          "response':{'output':'r'}}}]}]}",
      } },
    { "a switch of provider in the middle, and back",
      "{'role':'user','content':'始め'}\n{'role':'assistant','content':[{'type':'thinking','think"
      "ing':'t','signature':'s'},{'type':'tool_use','id':'toolu_1','name':'read','input':{'p':'"
      "一'}}]}\n{'role':'user','content':[{'type':'tool_result','tool_use_id':'toolu_1','content"
      "':'壱'}]}\n{'role':'assistant','content':[{'type':'text','text':'done'}]}\n{'role':'user'"
      ",'content':'now elsewhere'}\n{'role':'assistant','content':'ok','tool_calls':[{'id':'cal"
      "l_1','type':'function','function':{'name':'read','arguments':'{\\'p\\':\\'二\\'}'}},{'id'"
      ":'call_2','type':'function','function':{'name':'ls','arguments':'{}'}}]}\n{'role':'tool'"
      ",'tool_call_id':'call_1','content':'弐'}\n{'role':'tool','tool_call_id':'call_2','content"
      "':'.'}\n{'role':'assistant','content':'fine'}\n{'role':'user','content':'and back'}\n{'r"
      "ole':'assistant','content':[{'type':'tool_use','id':'toolu_2','name':'read','input':{'p'"
      ":'三'}}]}\n{'role':'user','content':[{'type':'tool_result','tool_use_id':'toolu_2','conte"
      "nt':'参'}]}\n",
      {
          "{'model':'m','max_tokens':8192,'messages':[{'role':'user','content':'始め'},{'role':'assis"
          "tant','content':[{'type':'thinking','thinking':'t','signature':'s'},{'type':'tool_use','"
          "id':'toolu_1','name':'read','input':{'p':'一'}}]},{'role':'user','content':[{'type':'tool"
          "_result','tool_use_id':'toolu_1','content':'壱'}]},{'role':'assistant','content':[{'type'"
          ":'text','text':'done'}]},{'role':'user','content':'now elsewhere'},{'role':'assistant','"
          "content':[{'type':'text','text':'ok'},{'type':'tool_use','id':'call_1','name':'read','in"
          "put':{'p':'二'}},{'type':'tool_use','id':'call_2','name':'ls','input':{}}]},{'role':'user"
          "','content':[{'type':'tool_result','tool_use_id':'call_1','content':'弐'},{'type':'tool_r"
          "esult','tool_use_id':'call_2','content':'.'}]},{'role':'assistant','content':'fine'},{'r"
          "ole':'user','content':'and back'},{'role':'assistant','content':[{'type':'tool_use','id'"
          ":'toolu_2','name':'read','input':{'p':'三'}}]},{'role':'user','content':[{'type':'tool_re"
          "sult','tool_use_id':'toolu_2','content':'参'}]}]}",
          "{'model':'m','messages':[{'role':'user','content':'始め'},{'role':'assistant','content':nu"
          "ll,'tool_calls':[{'id':'toolu_1','type':'function','function':{'name':'read','arguments'"
          ":'{\\'p\\':\\'一\\'}'}}]},{'role':'tool','tool_call_id':'toolu_1','content':'壱'},{'role':"
          "'assistant','content':[{'type':'text','text':'done'}]},{'role':'user','content':'now els"
          "ewhere'},{'role':'assistant','content':'ok','tool_calls':[{'id':'call_1','type':'functio"
          "n','function':{'name':'read','arguments':'{\\'p\\':\\'二\\'}'}},{'id':'call_2','type':'fu"
          "nction','function':{'name':'ls','arguments':'{}'}}]},{'role':'tool','tool_call_id':'call"
          "_1','content':'弐'},{'role':'tool','tool_call_id':'call_2','content':'.'},{'role':'assist"
          "ant','content':'fine'},{'role':'user','content':'and back'},{'role':'assistant','content"
          "':null,'tool_calls':[{'id':'toolu_2','type':'function','function':{'name':'read','argume"
          "nts':'{\\'p\\':\\'三\\'}'}}]},{'role':'tool','tool_call_id':'toolu_2','content':'参'}]}",
          "{'model':'m','store':false,'input':[{'role':'user','content':'始め'},{'type':'function_cal"
          "l','call_id':'toolu_1','name':'read','arguments':'{\\'p\\':\\'一\\'}'},{'type':'function_"
          "call_output','call_id':'toolu_1','output':'壱'},{'role':'assistant','content':[{'type':'o"
          "utput_text','text':'done'}]},{'role':'user','content':'now elsewhere'},{'role':'assistan"
          "t','content':'ok'},{'type':'function_call','call_id':'call_1','name':'read','arguments':"
          "'{\\'p\\':\\'二\\'}'},{'type':'function_call','call_id':'call_2','name':'ls','arguments':"
          "'{}'},{'type':'function_call_output','call_id':'call_1','output':'弐'},{'type':'function_"
          "call_output','call_id':'call_2','output':'.'},{'role':'assistant','content':'fine'},{'ro"
          "le':'user','content':'and back'},{'type':'function_call','call_id':'toolu_2','name':'rea"
          "d','arguments':'{\\'p\\':\\'三\\'}'},{'type':'function_call_output','call_id':'toolu_2','"
          "output':'参'}]}",
          "{'model':'m','stream':false,'messages':[{'role':'user','content':'始め'},{'role':'assistan"
          "t','content':'','tool_calls':[{'id':'toolu_1','function':{'name':'read','arguments':{'p'"
          ":'一'}}}]},{'role':'tool','tool_name':'read','tool_call_id':'toolu_1','content':'壱'},{'ro"
          "le':'assistant','content':'done'},{'role':'user','content':'now elsewhere'},{'role':'ass"
          "istant','content':'ok','tool_calls':[{'id':'call_1','function':{'name':'read','arguments"
          "':{'p':'二'}}},{'id':'call_2','function':{'name':'ls','arguments':{}}}]},{'role':'tool','"
          "tool_name':'read','tool_call_id':'call_1','content':'弐'},{'role':'tool','tool_name':'ls'"
          ",'tool_call_id':'call_2','content':'.'},{'role':'assistant','content':'fine'},{'role':'u"
          "ser','content':'and back'},{'role':'assistant','content':'','tool_calls':[{'id':'toolu_2"
          "','function':{'name':'read','arguments':{'p':'三'}}}]},{'role':'tool','tool_name':'read',"
          "'tool_call_id':'toolu_2','content':'参'}]}",
          "{'contents':[{'role':'user','parts':[{'text':'始め'}]},{'role':'model','parts':[{'function"
          "Call':{'name':'read','args':{'p':'一'}}}]},{'role':'user','parts':[{'functionResponse':{'"
          "name':'read','response':{'output':'壱'}}}]},{'role':'model','parts':[{'text':'done'}]},{'"
          "role':'user','parts':[{'text':'now elsewhere'}]},{'role':'model','parts':[{'text':'ok'},"
          "{'functionCall':{'name':'read','args':{'p':'二'}}},{'functionCall':{'name':'ls','args':{}"
          "}}]},{'role':'user','parts':[{'functionResponse':{'name':'read','response':{'output':'弐'"
          "}}},{'functionResponse':{'name':'ls','response':{'output':'.'}}}]},{'role':'model','part"
          "s':[{'text':'fine'}]},{'role':'user','parts':[{'text':'and back'}]},{'role':'model','par"
          "ts':[{'functionCall':{'name':'read','args':{'p':'三'}}}]},{'role':'user','parts':[{'funct"
          "ionResponse':{'name':'read','response':{'output':'参'}}}]}]}",
      } },
};

#endif
